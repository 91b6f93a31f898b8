//! Packets through a socket in memory, on tokio's paused clock.

use std::collections::VecDeque;
use std::time::Duration;

use ambit_transport::impair::Impairment;
use quinn::udp::{RecvMeta, Transmit};

use super::*;

#[tokio::test(start_paused = true)]
async fn without_impairment_packets_are_unchanged() {
    let (socket, wire) = impaired("", 0);
    socket.try_send(&transmit(b"one")).expect("taken");
    wire.push_arrived(b"two", 3);
    assert_eq!(receive(&socket).await, b"two");
    assert_eq!(wire.left(), [(0, b"one".to_vec())]);
}

#[tokio::test(start_paused = true)]
async fn with_total_loss_nothing_arrives() {
    let (socket, wire) = impaired("loss=100", 0);
    for _ in 0..100 {
        socket.try_send(&transmit(b"out")).expect("taken");
        wire.push_arrived(b"in", 2);
    }
    assert!(tokio::time::timeout(Duration::from_secs(10), receive(&socket)).await.is_err());
    assert_eq!(wire.left(), []);
}

#[tokio::test(start_paused = true)]
async fn delayed_packets_leave_and_arrive_in_time_while_idle() {
    let (socket, wire) = impaired("delay=50ms", 0);
    let endpoint = {
        let socket = socket.clone();
        tokio::spawn(async move { receive(&socket).await })
    };
    // Sent while the endpoint's task is waiting: the task must wake up.
    tokio::time::sleep(Duration::from_millis(10)).await;
    socket.try_send(&transmit(b"a")).expect("taken");
    socket.try_send(&transmit(b"b")).expect("taken");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(wire.left(), [(60, b"a".to_vec()), (60, b"b".to_vec())]);
    let before = instant_now();
    wire.push_arrived(b"c", 1);
    assert_eq!(endpoint.await.expect("it does not panic"), b"c");
    assert_eq!(before.elapsed().as_millis(), 50);
}

#[tokio::test(start_paused = true)]
async fn packets_joined_by_the_kernel_are_impaired_one_by_one() {
    let (socket, wire) = impaired("delay=5ms", 0);
    wire.push_arrived(b"aaabbbc", 3);
    for expected in [&b"aaa"[..], b"bbb", b"c"] {
        assert_eq!(receive(&socket).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn impairment_follows_from_seed_number_and_direction() {
    let run = |spec: &'static str, number| async move {
        let (socket, wire) = impaired(spec, number);
        for packet in 0..200_u8 {
            socket.try_send(&transmit(&[packet])).expect("taken");
            wire.push_arrived(&[packet], 1);
        }
        let mut arrived = Vec::new();
        while let Ok(packet) = tokio::time::timeout(Duration::from_secs(1), receive(&socket)).await
        {
            arrived.extend(packet);
        }
        let left = wire.left().into_iter().flat_map(|(_, packet)| packet).collect::<Vec<_>>();
        (left, arrived)
    };
    let spec = "loss=30,duplicate=10,delay=20ms,jitter=10ms,reorder=10,seed=7";
    let (left, arrived) = run(spec, 1).await;
    assert_eq!((left.clone(), arrived.clone()), run(spec, 1).await);
    assert_ne!(left, arrived);
    assert_ne!(left, run(spec, 2).await.0);
    assert!((100..190).contains(&left.len()), "{}", left.len());
}

#[tokio::test(start_paused = true)]
async fn waiting_packets_are_bounded() {
    let (socket, wire) = impaired("delay=1s", 0);
    for _ in 0..2 * MAX_WAITING {
        socket.try_send(&transmit(b"x")).expect("taken");
    }
    let _ = tokio::time::timeout(Duration::from_secs(3), receive(&socket)).await;
    assert_eq!(wire.left().len(), MAX_WAITING);
}

fn impaired(spec: &str, number: u64) -> (Arc<ImpairedSocket>, Arc<Wire>) {
    let impairment =
        if spec.is_empty() { Impairment::default() } else { spec.parse().expect("a spec") };
    let wire = Arc::new(Wire { began: instant_now(), state: Mutex::default() });
    (Arc::new(ImpairedSocket::new(wire.clone(), impairment, number)), wire)
}

fn transmit(contents: &[u8]) -> Transmit<'_> {
    Transmit {
        destination: ([127, 0, 0, 1], 9).into(),
        ecn: None,
        contents,
        segment_size: None,
        src_ip: None,
    }
}

async fn receive(socket: &ImpairedSocket) -> Vec<u8> {
    let mut buffer = [0; 64];
    let mut meta = [RecvMeta::default()];
    let poll = |context: &mut Context<'_>| {
        socket.poll_recv(context, &mut [IoSliceMut::new(&mut buffer)], &mut meta)
    };
    assert_eq!(std::future::poll_fn(poll).await.expect("a packet"), 1);
    buffer[..meta[0].len].to_vec()
}

/// The network below: packets that left, with their times in milliseconds, and packets to receive.
#[derive(Debug)]
struct Wire {
    began: Instant,
    state: Mutex<WireState>,
}

#[derive(Debug, Default)]
struct WireState {
    left: Vec<(u128, Vec<u8>)>,
    /// Contents and stride.
    arrived: VecDeque<(Vec<u8>, usize)>,
    reader: Option<Waker>,
}

impl Wire {
    fn left(&self) -> Vec<(u128, Vec<u8>)> {
        self.state.lock().left.clone()
    }

    fn push_arrived(&self, contents: &[u8], stride: usize) {
        let mut state = self.state.lock();
        state.arrived.push_back((contents.to_vec(), stride));
        if let Some(reader) = state.reader.take() {
            reader.wake();
        }
    }
}

impl AsyncUdpSocket for Wire {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        unreachable!("the test calls no other method")
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let left = (self.began.elapsed().as_millis(), transmit.contents.to_vec());
        self.state.lock().left.push(left);
        Ok(())
    }

    fn poll_recv(
        &self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.state.lock();
        let Some((contents, stride)) = state.arrived.pop_front() else {
            state.reader = Some(context.waker().clone());
            return Poll::Pending;
        };
        buffers[0][..contents.len()].copy_from_slice(&contents);
        meta[0] = RecvMeta { len: contents.len(), stride, ..RecvMeta::default() };
        Poll::Ready(Ok(1))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(([127, 0, 0, 1], 8).into())
    }
}
