//! A small reader for the tests, on fbxcel's pull parser; any warning of the parser fails the test.

use std::io::Cursor;

use fbxcel::{
    low::v7400::AttributeValue,
    pull_parser::{
        any::AnyParser,
        v7400::{Event, attribute::loaders::DirectLoader},
    },
};

pub(super) struct Tree {
    pub(super) name: String,
    pub(super) values: Vec<AttributeValue>,
    pub(super) children: Vec<Tree>,
}

pub(super) fn read(bytes: &[u8]) -> Tree {
    let AnyParser::V7400(mut parser) = AnyParser::from_seekable_reader(Cursor::new(bytes)).unwrap()
    else {
        panic!("a version of its own");
    };
    parser.set_warning_handler(|warning, position| panic!("{warning} at {position:?}"));
    let mut open = vec![Tree {
        name: String::new(),
        values: Vec::new(),
        children: Vec::new(),
    }];
    loop {
        match parser.next_event().unwrap() {
            Event::StartNode(start) => {
                let name = start.name().to_owned();
                let values = start
                    .attributes()
                    .into_iter(std::iter::repeat(DirectLoader));
                open.push(Tree {
                    name,
                    values: values.collect::<Result<_, _>>().unwrap(),
                    children: Vec::new(),
                });
            }
            Event::EndNode => {
                let closed = open.pop().unwrap();
                open.last_mut().unwrap().children.push(closed);
            }
            Event::EndFbx(footer) => {
                footer.unwrap();
                assert_eq!(open.len(), 1);
                return open.pop().unwrap();
            }
        }
    }
}

impl Tree {
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &Self> {
        self.children.iter().filter(move |c| c.name == name)
    }

    pub(super) fn child(&self, name: &str) -> &Self {
        let found = self.children.iter().find(|c| c.name == name);
        found.unwrap_or_else(|| panic!("{} has no {name}", self.name))
    }

    pub(super) fn text(&self, at: usize) -> &str {
        self.values[at].get_string().unwrap()
    }

    pub(super) fn int(&self, at: usize) -> i32 {
        self.values[at].get_i32().unwrap()
    }

    pub(super) fn long(&self, at: usize) -> i64 {
        self.values[at].get_i64().unwrap()
    }

    pub(super) fn double(&self, at: usize) -> f64 {
        self.values[at].get_f64().unwrap()
    }

    /// The doubles of an entry with one array.
    pub(super) fn doubles(&self, name: &str) -> &[f64] {
        self.child(name).values[0].get_arr_f64().unwrap()
    }

    pub(super) fn ints(&self, name: &str) -> &[i32] {
        self.child(name).values[0].get_arr_i32().unwrap()
    }

    pub(super) fn longs(&self, name: &str) -> &[i64] {
        self.child(name).values[0].get_arr_i64().unwrap()
    }

    pub(super) fn floats(&self, name: &str) -> &[f32] {
        self.child(name).values[0].get_arr_f32().unwrap()
    }

    /// A property of `Properties70`.
    pub(super) fn prop(&self, name: &str) -> &Self {
        let mut all = self.child("Properties70").all("P");
        let found = all.find(|p| p.text(0) == name);
        found.unwrap_or_else(|| panic!("{} has no property {name}", self.name))
    }

    /// Three doubles of a property.
    pub(super) fn xyz(&self, name: &str) -> [f64; 3] {
        let prop = self.prop(name);
        [4, 5, 6].map(|at| prop.double(at))
    }

    /// The object of a kind (`Model`) and a name.
    pub(super) fn object(&self, kind: &str, name: &str) -> &Self {
        let mut all = self.child("Objects").all(kind);
        let found = all.find(|o| o.text(1).split('\0').next() == Some(name));
        found.unwrap_or_else(|| panic!("no {kind} {name}"))
    }

    /// The object of a number.
    pub(super) fn by_id(&self, id: i64) -> &Self {
        let objects = &self.child("Objects").children;
        objects.iter().find(|o| o.long(0) == id).unwrap()
    }

    /// Objects connected to `object`, to the property named, or as a whole.
    pub(super) fn below(&self, object: &Self, property: Option<&str>) -> Vec<&Self> {
        let links = self.child("Connections").all("C");
        let to = links.filter(|c| c.long(2) == object.long(0));
        let to = to.filter(|c| c.values.get(3).and_then(AttributeValue::get_string) == property);
        to.map(|c| self.by_id(c.long(1))).collect()
    }
}
