//! Starts as much of a stage as can be started, and says of the rest why not.

use sources::net::{
    socket::{self, BindError},
    tcp,
};

use super::{Part, SourceFault, Unstarted};
use crate::{
    file_source,
    live::Live,
    remote::{RemoteTable, TriggerTable},
    stage::{SourceTable, Stage, Transport},
    timecode_in::TimecodeOptions,
};

/// A hub that runs, of which something may be missing.
pub(crate) struct Started {
    /// The hub.
    pub(crate) live: Live,
    /// The part of the stage that runs.
    pub(crate) stage: Stage,
    /// One per source of the whole stage: why it does not run.
    pub(crate) faults: Vec<Option<SourceFault>>,
    /// What else does not run.
    pub(crate) unstarted: Vec<Unstarted>,
}

/// Sockets that are held while others are tried, so that two sources do not get the same one.
#[derive(Default)]
struct Held {
    udp: Vec<socket::BoundSocket>,
    tcp: Vec<tcp::BoundTcp>,
}

impl From<BindError> for SourceFault {
    fn from(error: BindError) -> Self {
        match error {
            BindError::InUse { addr, free, .. } => Self::PortInUse { addr, free },
            other => Self::Other(other.to_string()),
        }
    }
}

impl Held {
    /// Tries what the hub will do with a source.
    fn probe(&mut self, source: &SourceTable) -> Result<(), SourceFault> {
        if let Some(file) = &source.file {
            let opened = file_source::open(file);
            return opened
                .map(drop)
                .map_err(|error| SourceFault::Other(format!("{error:#}")));
        }
        if source.transport == Transport::Tcp {
            self.tcp.push(tcp::bind(source.endpoint())?);
        } else {
            self.udp
                .push(socket::bind_with(source.addr(), source.group())?);
        }
        Ok(())
    }
}

/// Starts a stage without what cannot be started.
///
/// # Errors
/// When not even the rest starts.
pub(crate) fn start(stage: &Stage) -> anyhow::Result<Started> {
    let mut held = Held::default();
    let tried = stage.sources.iter().map(|source| held.probe(source).err());
    let faults: Vec<Option<SourceFault>> = tried.collect();
    // Free again for the hub. Nobody is likely to take a port in the moment between.
    drop(held);
    let mut stage = stage.clone();
    let mut is_fine = faults.iter().map(Option::is_none);
    stage.sources.retain(|_| is_fine.next().unwrap_or(false));
    let mut unstarted = Vec::new();
    let live = if let Ok(live) = Live::start(&stage) {
        live
    } else {
        leave_out(&mut stage, &mut unstarted);
        // What is wrong now is none of the parts by itself.
        Live::start(&stage)?
    };
    Ok(Started {
        live,
        stage,
        faults,
        unstarted,
    })
}

/// Tries each part of a stage alone, and takes out those that do not start.
fn leave_out(stage: &mut Stage, unstarted: &mut Vec<Unstarted>) {
    let none = Stage {
        hub: stage.hub.clone(),
        ..Stage::default()
    };
    let mut fails = |part: Part, name: &str, alone: &Stage| {
        let Err(error) = Live::start(alone) else {
            return false;
        };
        unstarted.push(Unstarted {
            part,
            name: name.to_owned(),
            why: format!("{error:#}"),
        });
        true
    };
    let mut outputs = Vec::new();
    for (index, mut output) in std::mem::take(&mut stage.outputs).into_iter().enumerate() {
        // It keeps its name when one before it is taken out.
        let name = output.name_as(index + 1);
        output.name = Some(name.clone());
        let alone = Stage {
            outputs: vec![output.clone()],
            ..none.clone()
        };
        if !fails(Part::Output, &name, &alone) {
            outputs.push(output);
        }
    }
    stage.outputs = outputs;
    let alone = Stage {
        phones: stage.phones.clone(),
        remote: stage.remote.clone(),
        trigger: stage.trigger.clone(),
        ..none.clone()
    };
    if fails(Part::Remote, "remote control", &alone) {
        stage.phones.clear();
        stage.remote = RemoteTable::default();
        stage.trigger = TriggerTable::default();
    }
    let alone = Stage {
        timecode: stage.timecode.clone(),
        ..none
    };
    // Standard input can be read only once: it is taken to be fine.
    if !alone.timecode.takes_standard_input() && fails(Part::Timecode, "the hub's timecode", &alone)
    {
        stage.timecode = TimecodeOptions::default();
    }
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener, UdpSocket};

    use sources::Protocol;

    use super::*;
    use crate::{
        outputs::{OutputKind, OutputOptions, RunningOutput},
        stage::parse_source,
    };

    fn source(addr: SocketAddr) -> SourceTable {
        SourceTable::new(Protocol::LiveLinkFace, addr)
    }

    fn of_sources(sources: Vec<SourceTable>) -> Stage {
        Stage {
            sources,
            ..Stage::default()
        }
    }

    #[test]
    fn a_port_in_use_costs_only_its_source() {
        let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
        let addr = taken.local_addr().unwrap();
        let stage = of_sources(vec![source(addr), source("127.0.0.1:0".parse().unwrap())]);
        let mut started = start(&stage).unwrap();
        let Some(SourceFault::PortInUse { addr: of, free }) = &started.faults[0] else {
            panic!("{:?}", started.faults);
        };
        assert_eq!(*of, addr);
        assert_ne!(*free, addr.port());
        assert_eq!(started.faults[1], None);
        assert_eq!(started.live.listening().len(), 1);
        assert!(started.unstarted.is_empty());
        started.live.stop();
    }

    #[test]
    fn two_sources_of_one_port_are_not_both_fine() {
        let free = UdpSocket::bind("127.0.0.1:0").unwrap();
        let addr = free.local_addr().unwrap();
        drop(free);
        let stage = of_sources(vec![source(addr), source(addr)]);
        let mut started = start(&stage).unwrap();
        let faults: Vec<bool> = started.faults.iter().map(Option::is_some).collect();
        assert_eq!(faults, [false, true]);
        started.live.stop();
    }

    #[test]
    fn a_file_that_is_not_there_is_a_fault_of_its_source() {
        let stage = of_sources(vec![parse_source("file=no/such/山田.bvh").unwrap()]);
        let mut started = start(&stage).unwrap();
        let Some(SourceFault::Other(why)) = &started.faults[0] else {
            panic!("{:?}", started.faults);
        };
        assert!(why.contains("山田.bvh"), "{why}");
        started.live.stop();
    }

    #[test]
    fn an_output_that_cannot_start_is_left_out_and_the_others_keep_their_names() {
        // A page's port that somebody has.
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut bad = OutputOptions::new(OutputKind::WebSocket);
        bad.listen = Some(taken.local_addr().unwrap().to_string());
        let mut good = OutputOptions::new(OutputKind::Vmc);
        good.to = vec!["127.0.0.1:39539".to_owned()];
        let stage = Stage {
            outputs: vec![bad, good],
            ..Stage::default()
        };
        let mut started = start(&stage).unwrap();
        assert_eq!(started.unstarted.len(), 1, "{:?}", started.unstarted);
        assert_eq!(started.unstarted[0].name, "websocket-1");
        let names: Vec<&str> = started
            .live
            .outputs()
            .iter()
            .map(RunningOutput::name)
            .collect();
        assert_eq!(names, ["vmc-2"]);
        started.live.stop();
    }
}
