//! A UDP socket whose packets come and go many at a time.
//!
//! `quinn-udp` receives: on Linux up to 32 packets a call. Sending, where it has one call a
//! destination, [`BatchSocket::send`] has one call for up to 256 packets on Linux, and one
//! for each elsewhere. Packets that leave carry no mark for congestion: it would need a control
//! message, and the window of all connections is fixed.
//!
//! What always holds: a packet that can't be sent is dropped, as if the path had lost it, and
//! counted; the rest is sent.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};

use bytes::BytesMut;
use quinn_proto::EcnCodepoint;
use quinn_udp::{BATCH_SIZE, RecvMeta, UdpSockRef, UdpSocketState};

use crate::endpoint_core::ReceivedPacket;
use crate::packets::Packets;

/// Packets that one call of the system sends.
#[cfg(target_os = "linux")]
const AT_ONCE: usize = 256;

/// Longest packet; of longer ones the end is cut off, and they can't be decrypted.
const PACKET_BYTES: usize = 1_500;

/// See the module.
pub struct BatchSocket {
    socket: UdpSocket,
    state: UdpSocketState,
    /// What the system writes into, [`BATCH_SIZE`] equal parts.
    buffer: Vec<u8>,
    #[cfg(target_os = "linux")]
    sender: linux::Sender,
}

impl BatchSocket {
    /// Takes a bound socket.
    pub fn new(socket: UdpSocket) -> io::Result<Self> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        let part = PACKET_BYTES * state.gro_segments();
        Ok(Self {
            socket,
            state,
            buffer: vec![0; part * BATCH_SIZE],
            #[cfg(target_os = "linux")]
            sender: linux::Sender::new(),
        })
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// The socket, to wait for it.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Whether no packet is ever split on its way, so that QUIC can find out how long they may be.
    pub fn sends_whole(&self) -> bool {
        !self.state.may_fragment()
    }

    /// Hands the packets that have arrived to `take`, some dozens at most. `false` if none is left.
    pub fn receive(&mut self, mut take: impl FnMut(ReceivedPacket)) -> io::Result<bool> {
        let part = self.buffer.len() / BATCH_SIZE;
        let mut parts = self.buffer.chunks_exact_mut(part).map(IoSliceMut::new);
        let mut slices: [IoSliceMut<'_>; BATCH_SIZE] =
            std::array::from_fn(|_| parts.next().expect("as many parts"));
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let socket = UdpSockRef::from(&self.socket);
        let count = match self.state.recv(socket, &mut slices, &mut metas) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        };
        for (meta, slice) in metas.iter().zip(&slices).take(count) {
            // Several packets of one peer may come as one.
            let stride = meta.stride.max(1);
            for bytes in slice[..meta.len].chunks(stride) {
                take(ReceivedPacket {
                    from: meta.addr,
                    to: meta.dst_ip,
                    mark: meta.ecn.and_then(|mark| EcnCodepoint::from_bits(mark as u8)),
                    bytes: BytesMut::from(bytes),
                });
            }
        }
        Ok(count == BATCH_SIZE)
    }

    /// Sends all packets. Returns how many could not be sent.
    pub fn send(&mut self, packets: &Packets) -> usize {
        #[cfg(target_os = "linux")]
        return self.sender.send(&self.socket, packets);
        #[cfg(not(target_os = "linux"))]
        {
            let send = |(target, bytes): (&crate::packets::PacketTarget, &[u8])| {
                self.state.send(
                    UdpSockRef::from(&self.socket),
                    &quinn_udp::Transmit {
                        destination: target.to,
                        ecn: None,
                        contents: bytes,
                        segment_size: None,
                        src_ip: target.from,
                    },
                )
            };
            packets.iter().filter(|packet| send(*packet).is_err()).count()
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    //! Many packets by one call: `sendmmsg`.

    use std::io::IoSlice;
    use std::net::{IpAddr, UdpSocket};
    use std::os::fd::{AsFd as _, AsRawFd as _};

    use nix::errno::Errno;
    use nix::libc;
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use nix::sys::socket::{ControlMessage, MsgFlags, MultiHeaders, SockaddrStorage, sendmmsg};

    use super::AT_ONCE;
    use crate::packets::Packets;

    /// How long a full socket may hold up all connections, in milliseconds.
    const FULL_MS: u8 = 5;

    pub(super) struct Sender {
        /// Without the own address.
        plain: MultiHeaders<SockaddrStorage>,
        /// With one of IPv4, or of IPv6; made when it is needed.
        from_v4: Option<MultiHeaders<SockaddrStorage>>,
        from_v6: Option<MultiHeaders<SockaddrStorage>>,
    }

    impl Sender {
        pub(super) fn new() -> Self {
            let plain = MultiHeaders::preallocate(AT_ONCE, None);
            Self { plain, from_v4: None, from_v6: None }
        }

        pub(super) fn send(&mut self, socket: &UdpSocket, packets: &Packets) -> usize {
            let slices: Vec<[IoSlice<'_>; 1]> =
                packets.iter().map(|(_, bytes)| [IoSlice::new(bytes)]).collect();
            let targets = packets.targets();
            let addresses: Vec<Option<SockaddrStorage>> =
                targets.iter().map(|target| Some(target.to.into())).collect();
            let (mut next, mut lost) = (0, 0);
            while next < slices.len() {
                let from = targets[next].from;
                let same = targets[next..].iter().take(AT_ONCE);
                let end = next + same.take_while(|target| target.from == from).count();
                match self.call(socket, from, &slices[next..end], &addresses[next..end]) {
                    Ok(sent) => next += sent.max(1),
                    Err(Errno::EINTR) => {}
                    Err(Errno::EAGAIN) => {
                        if !wait_for_space(socket) {
                            return lost + slices.len() - next;
                        }
                    }
                    // This packet is too long for the path, or there is no way to its address.
                    Err(_) => (next, lost) = (next + 1, lost + 1),
                }
            }
            lost
        }

        /// Sends the first packets; returns how many.
        fn call(
            &mut self,
            socket: &UdpSocket,
            from: Option<IpAddr>,
            slices: &[[IoSlice<'_>; 1]],
            addresses: &[Option<SockaddrStorage>],
        ) -> nix::Result<usize> {
            let socket = socket.as_raw_fd();
            let flags = MsgFlags::MSG_DONTWAIT;
            let sent = match from {
                None => sendmmsg(socket, &mut self.plain, slices, addresses, [], flags)?.count(),
                Some(IpAddr::V4(from)) => {
                    let space = || nix::cmsg_space!(libc::in_pktinfo);
                    let headers = self
                        .from_v4
                        .get_or_insert_with(|| MultiHeaders::preallocate(AT_ONCE, Some(space())));
                    let own = libc::in_addr { s_addr: u32::from(from).to_be() };
                    let info = libc::in_pktinfo {
                        ipi_ifindex: 0,
                        ipi_spec_dst: own,
                        ipi_addr: libc::in_addr { s_addr: 0 },
                    };
                    let control = [ControlMessage::Ipv4PacketInfo(&info)];
                    sendmmsg(socket, headers, slices, addresses, control, flags)?.count()
                }
                Some(IpAddr::V6(from)) => {
                    let space = || nix::cmsg_space!(libc::in6_pktinfo);
                    let headers = self
                        .from_v6
                        .get_or_insert_with(|| MultiHeaders::preallocate(AT_ONCE, Some(space())));
                    let info = libc::in6_pktinfo {
                        ipi6_addr: libc::in6_addr { s6_addr: from.octets() },
                        ipi6_ifindex: 0,
                    };
                    let control = [ControlMessage::Ipv6PacketInfo(&info)];
                    sendmmsg(socket, headers, slices, addresses, control, flags)?.count()
                }
            };
            Ok(sent)
        }
    }

    /// Waits until a full socket takes more; `false` if that takes too long.
    fn wait_for_space(socket: &UdpSocket) -> bool {
        let mut waiting = [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
        poll(&mut waiting, PollTimeout::from(FULL_MS)).is_ok_and(|ready| ready > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn a_batch_arrives_whole_and_in_order_beside_a_packet_that_is_too_long() {
        let bind = || {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            socket.set_nonblocking(true).unwrap();
            BatchSocket::new(socket).unwrap()
        };
        let (mut near, mut far) = (bind(), bind());
        let to = far.local_addr().unwrap();
        for from in [None, Some(Ipv4Addr::LOCALHOST.into())] {
            let mut packets = Packets::default();
            for number in 0..100_u8 {
                // No packet of UDP is as long as this one.
                let bytes = if number == 50 { vec![0; 70_000] } else { vec![number; 40] };
                packets.put(&bytes, to, from);
            }
            assert_eq!(near.send(&packets), 1);
            let mut found = Vec::new();
            while found.len() < 99 {
                far.receive(|packet| {
                    assert_eq!(packet.from, near.local_addr().unwrap());
                    assert_eq!(packet.bytes.len(), 40);
                    found.push(packet.bytes[0]);
                })
                .unwrap();
            }
            let sent: Vec<u8> = (0..100).filter(|number| *number != 50).collect();
            assert_eq!(found, sent);
        }
    }
}
