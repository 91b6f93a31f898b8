//! Time that a late joiner needs to receive 256 KiB: as a block of Ambit's link, and as a QUIC
//! stream.
//!
//! `cargo bench -p ambit-tests --bench chunks` prints the table and writes
//! `docs/data/chunks.tsv`. Everything runs on virtual time from seeds: the links in steps of a
//! millisecond, quinn over a socket in memory under tokio's paused clock. The figures are the same
//! on every machine.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use ambit_proto::link::{BudgetConfig, Link, LinkConfig, LinkEvent};
use ambit_proto::time::LocalTime;
use ambit_proto::wire::{Coder as _, Reader, Writer};
use ambit_tests::data_file;
use ambit_transport::impair::{Impairer, Impairment};
use ambit_transport::quic::{self, ALPN_GAME, Fingerprint, FingerprintVerifier};
use bytes::Bytes;
use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, Connection, Endpoint, EndpointConfig, Side, TokioRuntime, UdpPoller};
use rustls::pki_types::PrivateKeyDer;
use tokio::time::Instant;

const BLOCK_BYTES: usize = 256 << 10;
const SLICE_BYTES: usize = 1_024;
const DELAY: Duration = Duration::from_millis(50);
/// Bytes a second, and the name in the table.
const RATES: [(u32, &str); 3] =
    [(32_000, "256 kbit/s"), (64_000, "512 kbit/s"), (125_000, "1 Mbit/s")];
const LOSSES: [f32; 5] = [0.0, 1.0, 5.0, 10.0, 20.0];
const SEEDS: u64 = 20;
/// Size of the game's message in each tick.
const GAME_BYTES: usize = 300;
const TICK: Duration = Duration::from_millis(50);
/// IP and UDP headers. The link adds 25 bytes a datagram for QUIC.
const IP_BYTES: usize = 28;
const QUIC_BYTES: usize = 25;
/// A transfer that takes longer counts as this.
const TIME_LIMIT: Duration = Duration::from_mins(5);

/// Mean and maximum, in seconds.
#[derive(Clone, Copy)]
struct TimeSummary {
    mean: f64,
    longest: f64,
}

/// Results of one transfer, and of the game's datagrams sent beside it.
struct Run {
    time: Duration,
    /// When each of the game's datagrams was sent, and the delays of those that arrived.
    game_sent: Vec<Duration>,
    game_arrived: Vec<(Duration, Duration)>,
}

fn main() {
    // Cargo passes its own flags to every bench; this one has none.
    let mut table = String::from(
        "| rate | loss % | ideal | chunk | chunk / ideal | chunk, narrow path \
         | stream, fixed window | stream, cubic | game beside chunk | game beside stream, fixed window \
         | game beside stream, cubic |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    print!("{table}");
    for (rate, name) in RATES {
        for loss in LOSSES {
            let line = row(rate, name, loss);
            print!("{line}");
            write!(table, "{line}").expect("writing to a string cannot fail");
        }
    }
    let command = "cargo bench -p ambit-tests --bench chunks";
    data_file::write("chunks", command, data_file::ANY_MACHINE, &table);
}

fn row(rate: u32, name: &str, loss: f32) -> String {
    let narrow = Some(u64::from(rate) * 8);
    let ideal = summarize_times(|seed| ideal_time(rate, loss, seed));
    let wide = summarize_times(|seed| send_over_link(rate, None, loss, seed, false).time);
    let ratio = wide.mean / ideal.mean;
    let seconds = [
        ideal,
        wide,
        summarize_times(|seed| send_over_link(rate, narrow, loss, seed, false).time),
        summarize_times(|seed| send_over_stream(rate, loss, seed, Congestion::Fixed, false).time),
        summarize_times(|seed| send_over_stream(rate, loss, seed, Congestion::Cubic, false).time),
    ];
    let [ideal, wide, chunk_time, fixed, cubic] = seconds.map(format_times);
    let beside_chunk = summarize_game(|seed| send_over_link(rate, narrow, loss, seed, true));
    let beside_fixed =
        summarize_game(|seed| send_over_stream(rate, loss, seed, Congestion::Fixed, true));
    let beside_cubic =
        summarize_game(|seed| send_over_stream(rate, loss, seed, Congestion::Cubic, true));
    format!(
        "| {name} | {loss} | {ideal} | {wide} | {ratio:.2} | {chunk_time} | {fixed} | {cubic} \
         | {beside_chunk} | {beside_fixed} | {beside_cubic} |\n"
    )
}

/// Per cent of the game's datagrams that arrive, and the 99th percentile of their delay.
fn summarize_game(run: impl Fn(u64) -> Run) -> String {
    let mut sent = 0;
    let mut delays = Vec::new();
    for run in (0..SEEDS).map(run) {
        // Datagrams that were in flight at the end do not count.
        let counts = |sent: Duration| sent + Duration::from_secs(1) < run.time;
        sent += run.game_sent.iter().filter(|&&sent| counts(sent)).count();
        delays.extend(
            run.game_arrived.iter().filter(|&&(sent, _)| counts(sent)).map(|&(_, delay)| delay),
        );
    }
    delays.sort_unstable();
    let slow = delays.get(delays.len() * 99 / 100).map_or(0, Duration::as_millis);
    format!("{:.1} %, {slow} ms", 100.0 * delays.len() as f64 / sent.max(1) as f64)
}

fn summarize_times(run: impl Fn(u64) -> Duration) -> TimeSummary {
    let all: Vec<f64> = (0..SEEDS).map(|seed| run(seed).as_secs_f64()).collect();
    TimeSummary {
        mean: all.iter().sum::<f64>() / all.len() as f64,
        longest: all.into_iter().fold(0.0, f64::max),
    }
}

fn format_times(times: TimeSummary) -> String {
    format!("{:.2} / {:.2}", times.mean, times.longest)
}

fn impairment(rate: Option<u64>, loss: f32, seed: u64) -> Impairment {
    Impairment { loss, delay: DELAY, rate, seed, ..Impairment::default() }
}

// ------------------------------------------------------------------------------------------------

/// Time of a sender that sends slices at this rate and learns of each loss after one round trip: a
/// lower bound, except for luck.
fn ideal_time(rate: u32, loss: f32, seed: u64) -> Duration {
    let mut rng = fastrand::Rng::with_seed(seed);
    let slot = Duration::from_secs_f64((SLICE_BYTES + 36) as f64 / f64::from(rate));
    let (mut unsent, mut now, mut last) =
        (BLOCK_BYTES / SLICE_BYTES, Duration::ZERO, Duration::ZERO);
    // When the sender learns of each loss.
    let mut lost = VecDeque::new();
    while unsent > 0 || !lost.is_empty() {
        if lost.front().is_some_and(|&known| known <= now) {
            lost.pop_front();
        } else if unsent > 0 {
            unsent -= 1;
        } else {
            now = lost.pop_front().expect("something is left");
        }
        now += slot;
        if rng.f64() * 100.0 < f64::from(loss) {
            lost.push_back(now + 2 * DELAY);
        } else {
            last = last.max(now + DELAY);
        }
    }
    last
}

/// Sends the block over two links that are polled on every event.
fn send_over_link(rate: u32, path_rate: Option<u64>, loss: f32, seed: u64, with_game: bool) -> Run {
    let budget = Some(BudgetConfig { bytes_per_s: rate, ..BudgetConfig::default() });
    let mut ends =
        [LinkConfig { budget, ..LinkConfig::default() }, LinkConfig::client()].map(Link::new);
    let mut impairers =
        [impairment(path_rate, loss, seed), impairment(path_rate, loss, seed ^ u64::MAX)]
            .map(Impairer::new);
    // Ordered by arrival time, then by order of sending.
    let (mut in_flight, mut sent) = (BTreeMap::<(LocalTime, u64), (usize, Vec<u8>)>::new(), 0);
    let start = LocalTime::from_millis(10_000);
    let mut run = Run { time: TIME_LIMIT, game_sent: Vec::new(), game_arrived: Vec::new() };
    ends[0].send_block(start, Bytes::from(vec![7; BLOCK_BYTES])).expect("the queue is empty");
    for millis in 0..TIME_LIMIT.as_millis() as u64 {
        let now = start + Duration::from_millis(millis);
        while let Some(arrival) = in_flight.first_entry().filter(|entry| entry.key().0 <= now) {
            let (to, bytes) = arrival.remove();
            let body = ends[to].handle_datagram(now, &bytes).expect("well formed");
            run.game_arrived
                .extend(body.and_then(read_game).map(|at| (at.since(start), now.since(at))));
            while let Some(event) = ends[to].poll_event() {
                if let LinkEvent::Block(block) = event {
                    assert_eq!(block.len(), BLOCK_BYTES);
                    run.time = now.since(start);
                    return run;
                }
            }
        }
        for (from, link) in ends.iter_mut().enumerate() {
            link.handle_timeout(now);
            let mut has_body = with_game && from == 0 && millis % TICK.as_millis() as u64 == 0;
            while has_body || link.wants_to_send(now) {
                let mut bytes = Vec::new();
                let body_bytes =
                    if has_body { GAME_BYTES.min(link.body_budget_bits(now) / 8) } else { 0 };
                link.write_datagram(now, &mut bytes, |writer, _| {
                    write_game(now, body_bytes, writer);
                });
                run.game_sent.extend(has_body.then(|| now.since(start)));
                has_body = false;
                for delay in impairers[from].send(now, bytes.len() + IP_BYTES + QUIC_BYTES) {
                    sent += 1;
                    in_flight.insert((now + delay, sent), (1 - from, bytes.clone()));
                }
            }
        }
    }
    run
}

/// Writes the time and padding.
fn write_game(now: LocalTime, length: usize, writer: &mut Writer<'_>) {
    if let Some(rest) = length.checked_sub(8) {
        writer.append(&now.micros().to_le_bytes(), 64);
        writer.append(&[7; GAME_BYTES], 8 * rest);
    }
}

fn read_game(mut body: Reader<'_>) -> Option<LocalTime> {
    let mut micros = 0;
    body.u64(&mut micros).ok().map(|()| LocalTime::from_micros(micros))
}

// ------------------------------------------------------------------------------------------------

#[derive(Clone, Copy, PartialEq, Eq)]
enum Congestion {
    /// The congestion controller that Ambit uses.
    Fixed,
    /// The default of quinn.
    Cubic,
}

/// From the server's first byte until the client has read the last one.
fn send_over_stream(
    rate: u32,
    loss: f32,
    seed: u64,
    congestion: Congestion,
    with_game: bool,
) -> Run {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime").block_on(run_stream(rate, loss, seed, congestion, with_game))
}

async fn run_stream(
    rate: u32,
    loss: f32,
    seed: u64,
    congestion: Congestion,
    with_game: bool,
) -> Run {
    let path_rate = Some(u64::from(rate) * 8);
    let sockets = SimulatedSocket::pair(&[
        impairment(path_rate, loss, seed),
        impairment(path_rate, loss, seed ^ u64::MAX),
    ]);
    let (near, far) = connect(&sockets, seed, congestion).await;
    let (mut to_server, mut from_server) = near.open_bi().await.expect("a connection");
    to_server.write_all(b"?").await.expect("a connection");
    to_server.finish().expect("an open stream");
    let (mut to_client, mut from_client) = far.accept_bi().await.expect("a connection");
    from_client.read_to_end(1).await.expect("one byte");
    let start = clock();
    let write = async {
        to_client.write_all(&vec![7; BLOCK_BYTES]).await.expect("a connection");
        to_client.finish().expect("an open stream");
        std::future::pending::<()>().await;
    };
    let read = async {
        let block = from_server.read_to_end(BLOCK_BYTES).await.expect("a connection");
        assert_eq!(block.len(), BLOCK_BYTES);
    };
    let mut game_sent = Vec::new();
    let mut game_arrived = Vec::new();
    let play = async {
        let mut ticks = tokio::time::interval(TICK);
        if !with_game {
            std::future::pending::<()>().await;
        }
        loop {
            ticks.tick().await;
            let now = clock() - start;
            let mut datagram = (now.as_micros() as u64).to_le_bytes().to_vec();
            datagram.resize(GAME_BYTES, 7);
            far.send_datagram(datagram.into()).expect("a connection");
            game_sent.push(now);
        }
    };
    let watch = async {
        loop {
            let datagram = near.read_datagram().await.expect("a connection");
            let sent = Duration::from_micros(u64::from_le_bytes(
                *datagram.first_chunk().expect("the time"),
            ));
            game_arrived.push((sent, (clock() - start).saturating_sub(sent)));
        }
    };
    tokio::select! {
        () = read => {}
        () = write => {}
        () = play => {}
        () = watch => {}
        () = tokio::time::sleep(TIME_LIMIT) => {}
    }
    Run { time: clock() - start, game_sent, game_arrived }
}

/// Connects; returns the connections of the client and of the server.
async fn connect(
    sockets: &[Arc<SimulatedSocket>; 2],
    seed: u64,
    congestion: Congestion,
) -> (Connection, Connection) {
    let made = quinn_certificate();
    let pin = Fingerprint::of(&made.0);
    let mut server =
        quic::server_config(vec![made.0], made.1, &[ALPN_GAME]).expect("a key that fits");
    let mut client = quic::client_config(ALPN_GAME, FingerprintVerifier::pinned(pin));
    let transport = |side| {
        let mut transport = quic::transport_config(side);
        // A client that waits for the world must not time out after 10 s of loss.
        transport.max_idle_timeout(Some(TIME_LIMIT.try_into().expect("minutes fit")));
        if congestion == Congestion::Cubic {
            transport
                .congestion_controller_factory(Arc::new(quinn::congestion::CubicConfig::default()));
        }
        Arc::new(transport)
    };
    server.transport_config(transport(Side::Server));
    client.transport_config(transport(Side::Client));
    let endpoint = |socket: &Arc<SimulatedSocket>, server, seed: u64| {
        let mut config = EndpointConfig::default();
        config.rng_seed(Some([seed as u8; 32]));
        Endpoint::new_with_abstract_socket(config, server, socket.clone(), Arc::new(TokioRuntime))
            .expect("a socket")
    };
    let (host, player) =
        (endpoint(&sockets[0], Some(server), seed), endpoint(&sockets[1], None, seed + 100));
    loop {
        let near = async {
            player
                .connect_with(client.clone(), sockets[0].address, "lobby.test")
                .expect("a name")
                .await
        };
        let far = async { host.accept().await.expect("an open endpoint").await };
        if let (Ok(near), Ok(far)) = tokio::join!(near, far) {
            // The endpoints live as long as their connections.
            return (near, far);
        }
    }
}

fn quinn_certificate() -> (rustls::pki_types::CertificateDer<'static>, PrivateKeyDer<'static>) {
    let made = rcgen::generate_simple_self_signed(["ambit".into()]).expect("a certificate");
    (made.cert.der().clone(), PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into()))
}

/// One end of a simulated cable: a socket in memory.
#[derive(Debug)]
struct SimulatedSocket {
    address: SocketAddr,
    peer: SocketAddr,
    /// On tokio's paused clock.
    began: Instant,
    /// Impairs what is sent to the peer.
    impairer: Mutex<Impairer>,
    inbox: Arc<PacketQueue>,
    outbox: Arc<PacketQueue>,
}

#[derive(Debug, Default)]
struct PacketQueue(Mutex<(VecDeque<Vec<u8>>, Option<Waker>)>);

impl SimulatedSocket {
    fn pair(impairers: &[Impairment; 2]) -> [Arc<Self>; 2] {
        let began = clock();
        let inboxes = [(); 2].map(|()| Arc::new(PacketQueue::default()));
        let addresses = [1, 2].map(|host| SocketAddr::from(([10, 0, 0, host], 7_777)));
        [0, 1].map(|end| {
            Arc::new(Self {
                address: addresses[end],
                peer: addresses[1 - end],
                began,
                impairer: Mutex::new(Impairer::new(impairers[end])),
                inbox: inboxes[end].clone(),
                outbox: inboxes[1 - end].clone(),
            })
        })
    }
}

impl PacketQueue {
    fn deliver(&self, packet: Vec<u8>) {
        let (packets, reader) = &mut *self.0.lock().expect("no panic");
        packets.push_back(packet);
        if let Some(reader) = reader.take() {
            reader.wake();
        }
    }
}

impl AsyncUdpSocket for SimulatedSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(AlwaysWritable)
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let now = LocalTime::from_micros((clock() - self.began).as_micros() as u64);
        let length = transmit.contents.len() + IP_BYTES;
        for delay in self.impairer.lock().expect("no panic").send(now, length) {
            let packet = transmit.contents.to_vec();
            let outbox = self.outbox.clone();
            tokio::spawn(async move {
                tokio::time::sleep(delay).await;
                outbox.deliver(packet);
            });
        }
        Ok(())
    }

    fn poll_recv(
        &self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let (packets, reader) = &mut *self.inbox.0.lock().expect("no panic");
        let Some(packet) = packets.pop_front() else {
            *reader = Some(context.waker().clone());
            return Poll::Pending;
        };
        buffers[0][..packet.len()].copy_from_slice(&packet);
        meta[0] = RecvMeta {
            addr: self.peer,
            len: packet.len(),
            stride: packet.len(),
            ..RecvMeta::default()
        };
        Poll::Ready(Ok(1))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }

    fn may_fragment(&self) -> bool {
        false
    }
}

#[derive(Debug)]
struct AlwaysWritable;

impl UdpPoller for AlwaysWritable {
    fn poll_writable(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[expect(clippy::disallowed_methods, reason = "the paused clock is the bench's own")]
fn clock() -> Instant {
    Instant::now()
}
