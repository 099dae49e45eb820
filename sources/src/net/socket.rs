//! UDP sockets set up with what a stage needs: a large receive buffer, and errors that say what to do.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, UdpSocket},
};

use socket2::{Domain, Protocol, Socket, Type};
use thiserror::Error;

/// Receive buffer asked for: 50 subjects at 60 Hz fill it in about four seconds.
pub const RECEIVE_BUFFER_BYTES: usize = 4 << 20;

/// Why a socket cannot listen.
#[derive(Debug, Error)]
pub enum BindError {
    /// Somebody else has the port.
    #[error(
        "port {port} is in use by another program on {addr}; free it, or listen on port {free}"
    )]
    InUse {
        /// The port asked for.
        port: u16,
        /// The address asked for.
        addr: SocketAddr,
        /// A port that is free now.
        free: u16,
    },
    /// The group cannot be joined.
    #[error(
        "cannot join the multicast group {group} on adapter {interface} ({cause}); set `interface` to an address of this machine"
    )]
    Group {
        /// The group.
        group: Ipv4Addr,
        /// The adapter's address; 0.0.0.0 left it to the system.
        interface: Ipv4Addr,
        /// What the system says.
        cause: io::Error,
    },
    /// Anything else.
    #[error("cannot listen on {addr}: {cause}")]
    Io {
        /// The address asked for.
        addr: SocketAddr,
        /// What the system says.
        cause: io::Error,
    },
}

/// A bound socket and what it really got.
#[derive(Debug)]
pub struct BoundSocket {
    /// Blocking.
    pub socket: UdpSocket,
    /// Where it listens; the port is the real one even if 0 was asked for.
    pub addr: SocketAddr,
    /// Receive buffer the system granted, in bytes.
    pub receive_buffer_bytes: usize,
}

/// A group to join: senders address it, and every machine that joined receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multicast {
    /// The group's address.
    pub group: Ipv4Addr,
    /// Address of the adapter to join on; unspecified leaves the choice to the system.
    pub interface: Ipv4Addr,
}

/// Binds a UDP socket that nobody shares.
///
/// # Errors
/// See [`BindError`]: a port in use names a free one.
pub fn bind(addr: SocketAddr) -> Result<BoundSocket, BindError> {
    bind_with(addr, None)
}

/// As [`bind`], and joins a multicast group. Its port is shared: other programs may listen to the group too.
///
/// # Errors
/// As [`bind`]; also when the group cannot be joined.
pub fn bind_with(addr: SocketAddr, multicast: Option<Multicast>) -> Result<BoundSocket, BindError> {
    let bound = try_bind(addr, multicast.is_some()).map_err(|cause| {
        if cause.kind() == io::ErrorKind::AddrInUse
            && let Some(free) = free_port(addr)
        {
            return BindError::InUse {
                port: addr.port(),
                addr,
                free,
            };
        }
        BindError::Io { addr, cause }
    })?;
    if let Some(Multicast { group, interface }) = multicast {
        bound
            .socket
            .join_multicast_v4(&group, &interface)
            .map_err(|cause| BindError::Group {
                group,
                interface,
                cause,
            })?;
    }
    Ok(bound)
}

fn try_bind(addr: SocketAddr, shared: bool) -> io::Result<BoundSocket> {
    let socket = Socket::new(Domain::for_address(addr), Type::DGRAM, Some(Protocol::UDP))?;
    // Best effort: the system may grant less, which is why the result is read back and reported.
    let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES);
    if shared {
        socket.set_reuse_address(true)?;
        // Linux hands a socket every group that anybody on the machine joined, on any adapter: one packet, twice.
        #[cfg(target_os = "linux")]
        if addr.is_ipv4() {
            socket.set_multicast_all_v4(false)?;
        }
    }
    socket.bind(&addr.into())?;
    let receive_buffer_bytes = socket.recv_buffer_size()?;
    let socket = UdpSocket::from(socket);
    Ok(BoundSocket {
        addr: socket.local_addr()?,
        socket,
        receive_buffer_bytes,
    })
}

/// A port above the one asked for that can be bound now, or any free one.
fn free_port(addr: SocketAddr) -> Option<u16> {
    let mut candidate = addr;
    (1..=20)
        .filter_map(|up| addr.port().checked_add(up))
        .chain([0])
        .find_map(|port| {
            candidate.set_port(port);
            Some(UdpSocket::bind(candidate).ok()?.local_addr().ok()?.port())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_names_itself_and_a_free_one() {
        let first = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        assert!(first.receive_buffer_bytes > 0);
        let Err(BindError::InUse { port, free, .. }) = bind(first.addr) else {
            panic!("the second bind must fail with InUse");
        };
        assert_eq!(port, first.addr.port());
        assert_ne!(free, port);
        bind(SocketAddr::new(first.addr.ip(), free)).unwrap();
    }

    #[test]
    fn a_group_is_heard_by_everyone_who_joined() {
        let any = || "0.0.0.0:0".parse().unwrap();
        let group = Multicast {
            group: Ipv4Addr::new(239, 255, 77, 91),
            interface: Ipv4Addr::LOCALHOST,
        };
        let first = bind_with(any(), Some(group)).unwrap();
        let second =
            bind_with(SocketAddr::new(any().ip(), first.addr.port()), Some(group)).unwrap();
        let sender = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP)).unwrap();
        sender.set_multicast_if_v4(&Ipv4Addr::LOCALHOST).unwrap();
        let to = SocketAddr::from((group.group, first.addr.port()));
        sender.send_to(b"hello", &to.into()).unwrap();
        for bound in [first, second] {
            bound
                .socket
                .set_read_timeout(Some(std::time::Duration::from_secs(2)))
                .unwrap();
            let mut buffer = [0; 16];
            let (len, _) = bound.socket.recv_from(&mut buffer).unwrap();
            assert_eq!(&buffer[..len], b"hello");
        }
    }
}
