//! Who made a model, and what may be done with it.

use serde_json::Value;

use super::reading::{MAX_NAME, MAX_TEXT, Reader, array, flag, index, text, tidy};

/// Most authors and most references kept.
const MAX_LISTED: usize = 64;

/// Who may perform as the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AvatarPermission {
    /// Its author.
    #[default]
    OnlyAuthor,
    /// Whoever has a licence of their own.
    OnlySeparatelyLicensed,
    /// Everyone.
    Everyone,
}

/// Whether one may earn with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommercialUsage {
    /// Persons, without profit.
    #[default]
    PersonalNonProfit,
    /// Persons, with or without profit.
    PersonalProfit,
    /// Companies too.
    Corporation,
}

/// Whether one may change it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Modification {
    /// No.
    #[default]
    Prohibited,
    /// Yes, and keep the result.
    Allowed,
    /// Yes, and pass the result on.
    AllowedWithRedistribution,
}

/// Title and licence, in VRM 1.0's terms. What a file does not say is what VRM 1.0 assumes: the strictest.
///
/// Texts are at most 4096 characters, without control characters but line breaks; empty when the file has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are VRM's own, independent permissions"
)]
pub struct Meta {
    /// Of the model.
    pub name: String,
    /// Of the model, in its author's own counting.
    pub version: String,
    /// At most 64.
    pub authors: Vec<String>,
    /// Who holds the rights.
    pub copyright: String,
    /// How to reach the author.
    pub contact: String,
    /// Works it builds on, at most 64.
    pub references: Vec<String>,
    /// Licences of others that apply.
    pub third_party_licenses: String,
    /// The licence document; VRM 1.0 only.
    pub license_url: String,
    /// The licence by name, such as `CC_BY`; VRM 0.x only.
    pub license_name: String,
    /// More documents that apply.
    pub other_license_url: String,
    /// Index of an image of the document.
    pub thumbnail: Option<usize>,
    /// Who may perform as it.
    pub avatar_permission: AvatarPermission,
    /// Whether one may earn with it.
    pub commercial_usage: CommercialUsage,
    /// Whether one may change it.
    pub modification: Modification,
    /// Whether excessive violence is allowed.
    pub violent_usage: bool,
    /// Whether excessive sexual content is allowed.
    pub sexual_usage: bool,
    /// Whether political or religious content is allowed.
    pub political_usage: bool,
    /// Whether antisocial content and hate are allowed.
    pub antisocial_usage: bool,
    /// Whether the author must be named.
    pub credit_required: bool,
    /// Whether the file may be passed on.
    pub redistribution: bool,
}

impl Meta {
    /// What one must know before using the model, a line each, in the order to be shown. No line breaks within.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut say = |what: &str, text: &str| {
            if !text.trim().is_empty() {
                lines.push(format!("{what}: {}", text.trim().replace('\n', " / ")));
            }
        };
        say("model", &self.name);
        say("version", &self.version);
        say("by", &self.authors.join(", "));
        say("copyright", &self.copyright);
        say("contact", &self.contact);
        say("after", &self.references.join(", "));
        say("licence", &self.license_name);
        say("licence document", &self.license_url);
        say("further conditions", &self.other_license_url);
        say("licences of others", &self.third_party_licenses);
        let who = match self.avatar_permission {
            AvatarPermission::OnlyAuthor => "its author only",
            AvatarPermission::OnlySeparatelyLicensed => "holders of a separate licence",
            AvatarPermission::Everyone => "everyone",
        };
        say("may be performed by", who);
        let commerce = match self.commercial_usage {
            CommercialUsage::PersonalNonProfit => "no",
            CommercialUsage::PersonalProfit => "by persons, not by companies",
            CommercialUsage::Corporation => "yes, by companies too",
        };
        say("commercial use", commerce);
        let allowed = |is: bool| if is { "allowed" } else { "not allowed" };
        say("excessive violence", allowed(self.violent_usage));
        say("excessive sexual content", allowed(self.sexual_usage));
        say("political or religious use", allowed(self.political_usage));
        say("antisocial use or hate", allowed(self.antisocial_usage));
        let credit = if self.credit_required {
            "required"
        } else {
            "not required"
        };
        say("credit", credit);
        say("redistribution", allowed(self.redistribution));
        let change = match self.modification {
            Modification::Prohibited => "not allowed",
            Modification::Allowed => "allowed, not to be passed on",
            Modification::AllowedWithRedistribution => "allowed, may be passed on",
        };
        say("modification", change);
        lines
    }
}

pub(super) fn read_v0(reader: &mut Reader<'_>, extension: &Value, root: &str) -> Meta {
    let path = format!("{root}/meta");
    let Some(meta) = extension.get("meta").filter(|m| m.is_object()) else {
        reader.note(
            format_args!("{path}"),
            format_args!("no licence, the strictest assumed"),
        );
        return strictest();
    };
    let word = |key: &str| meta.get(key).and_then(Value::as_str).unwrap_or_default();
    // −1 stands for none; textures name images.
    let textures = reader.character.document.get("textures");
    let thumbnail = index(meta.get("texture"), reader.count("textures"))
        .and_then(|at| index(textures?.get(at)?.get("source"), reader.count("images")));
    let license = word("licenseName");
    let (redistribution, modification) = match license {
        "CC0" | "CC_BY" | "CC_BY_NC" | "CC_BY_SA" | "CC_BY_NC_SA" => {
            (true, Modification::AllowedWithRedistribution)
        }
        // Changes may be made, and not be shared.
        "CC_BY_ND" | "CC_BY_NC_ND" => (true, Modification::Allowed),
        _ => (false, Modification::Prohibited),
    };
    // "Allow" says nothing about companies.
    let is_commercial = word("commercialUssageName") == "Allow" && !license.contains("_NC");
    let mut other = text(meta, "otherLicenseUrl", MAX_TEXT);
    let permission = text(meta, "otherPermissionUrl", MAX_TEXT);
    if other.trim().is_empty() {
        other = permission;
    } else if !permission.trim().is_empty() && permission != other {
        other = format!("{other}, {permission}");
    }
    Meta {
        name: text(meta, "title", MAX_NAME),
        version: text(meta, "version", MAX_NAME),
        authors: one(text(meta, "author", MAX_TEXT)),
        contact: text(meta, "contactInformation", MAX_TEXT),
        references: one(text(meta, "reference", MAX_TEXT)),
        license_name: text(meta, "licenseName", MAX_NAME),
        other_license_url: other,
        thumbnail,
        avatar_permission: match word("allowedUserName") {
            "Everyone" => AvatarPermission::Everyone,
            "ExplicitlyLicensedPerson" => AvatarPermission::OnlySeparatelyLicensed,
            _ => AvatarPermission::OnlyAuthor,
        },
        commercial_usage: if is_commercial {
            CommercialUsage::PersonalProfit
        } else {
            CommercialUsage::PersonalNonProfit
        },
        modification,
        violent_usage: word("violentUssageName") == "Allow",
        sexual_usage: word("sexualUssageName") == "Allow",
        credit_required: license != "CC0",
        redistribution,
        ..Meta::default()
    }
}

pub(super) fn read_v1(reader: &mut Reader<'_>, extension: &Value, root: &str) -> Meta {
    let path = format!("{root}/meta");
    let Some(meta) = extension.get("meta").filter(|m| m.is_object()) else {
        reader.note(
            format_args!("{path}"),
            format_args!("no licence, the strictest assumed"),
        );
        return strictest();
    };
    let word = |key: &str| meta.get(key).and_then(Value::as_str).unwrap_or_default();
    let list = |key: &str| -> Vec<String> {
        let items = array(meta, key).iter().take(MAX_LISTED);
        let texts = items.map(|item| tidy(item, MAX_NAME));
        texts.filter(|text| !text.is_empty()).collect()
    };
    let thumbnail = index(meta.get("thumbnailImage"), reader.count("images"));
    if thumbnail.is_none() && meta.get("thumbnailImage").is_some() {
        reader.note(
            format_args!("{path}/thumbnailImage"),
            format_args!("no such image"),
        );
    }
    Meta {
        name: text(meta, "name", MAX_NAME),
        version: text(meta, "version", MAX_NAME),
        authors: list("authors"),
        copyright: text(meta, "copyrightInformation", MAX_TEXT),
        contact: text(meta, "contactInformation", MAX_TEXT),
        references: list("references"),
        third_party_licenses: text(meta, "thirdPartyLicenses", MAX_TEXT),
        license_url: text(meta, "licenseUrl", MAX_TEXT),
        license_name: String::new(),
        other_license_url: text(meta, "otherLicenseUrl", MAX_TEXT),
        thumbnail,
        avatar_permission: match word("avatarPermission") {
            "everyone" => AvatarPermission::Everyone,
            "onlySeparatelyLicensedPerson" => AvatarPermission::OnlySeparatelyLicensed,
            _ => AvatarPermission::OnlyAuthor,
        },
        commercial_usage: match word("commercialUsage") {
            "corporation" => CommercialUsage::Corporation,
            "personalProfit" => CommercialUsage::PersonalProfit,
            _ => CommercialUsage::PersonalNonProfit,
        },
        modification: match word("modification") {
            "allowModificationRedistribution" => Modification::AllowedWithRedistribution,
            "allowModification" => Modification::Allowed,
            _ => Modification::Prohibited,
        },
        violent_usage: flag(meta, "allowExcessivelyViolentUsage"),
        sexual_usage: flag(meta, "allowExcessivelySexualUsage"),
        political_usage: flag(meta, "allowPoliticalOrReligiousUsage"),
        antisocial_usage: flag(meta, "allowAntisocialOrHateUsage"),
        credit_required: word("creditNotation") != "unnecessary",
        redistribution: flag(meta, "allowRedistribution"),
    }
}

/// What holds for a file that says nothing.
fn strictest() -> Meta {
    Meta {
        credit_required: true,
        ..Meta::default()
    }
}

fn one(text: String) -> Vec<String> {
    if text.is_empty() {
        Vec::new()
    } else {
        vec![text]
    }
}
