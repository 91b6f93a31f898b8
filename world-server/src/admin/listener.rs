//! The TCP listener behind the HTTP port: bounded in connections and in time.
//!
//! A connection takes one request, with a bounded time and length, so who opens connections and
//! sends nothing holds nothing for long. Above a bound, for all together and for each address, a
//! new connection takes the place of an older one ([`ContendedPlaces`]), so slow ones do not keep
//! out a probe, which needs its place for milliseconds. When the process has no file descriptors
//! left (or the system no memory), accepting fails: this is logged and counted, and tried again.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use ambit_transport::acceptance_limits::LimitReached;
use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;

use crate::contended_places::{ContendedPlaces, Place};

/// HTTP connections at a time: some monitors and browsers.
const CONNECTIONS: usize = 64;
const PUBLIC_CONNECTIONS: usize = 1_024;
/// Those of one address: browsers open six.
const CONNECTIONS_PER_ADDRESS: usize = 32;
/// How long a connection may last. A page takes milliseconds.
const LIFETIME: Duration = Duration::from_secs(10);
/// The same, from its start, once a public one is answered: a megabyte for a phone on a slow line
/// takes longer. Who asks for nothing has no such time, or few of them would fill all places.
const PUBLIC_LIFETIME: Duration = Duration::from_mins(1);
/// The same for an answer that lasts: a stream of events. Then the reader asks again.
const LASTING_LIFETIME: Duration = Duration::from_hours(1);
/// The bytes that a connection may send. Counted as they arrive, so with TLS and its handshake,
/// which takes two or three thousand: no request here has a body.
const REQUEST_BYTES: usize = 16 * 1024;
/// How long to wait after a failure to accept.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Failures to accept in a row, of which one is logged: about one a minute.
const FAILURES_PER_LINE: u64 = 60;

/// What went wrong with HTTP connections, since the start.
#[derive(Debug, Default)]
pub(crate) struct HttpCounters {
    full: AtomicU64,
    address_full: AtomicU64,
    timed_out: AtomicU64,
    too_long: AtomicU64,
    accept_failed: AtomicU64,
}

impl HttpCounters {
    /// Their names as drops, `queue/reason`, and their values.
    pub(super) fn drops(&self) -> [(&'static str, u64); 5] {
        [
            ("http/full", self.full.load(Relaxed)),
            ("http/address_full", self.address_full.load(Relaxed)),
            ("http/timed_out", self.timed_out.load(Relaxed)),
            ("http/too_long", self.too_long.load(Relaxed)),
            ("http/accept_failed", self.accept_failed.load(Relaxed)),
        ]
    }
}

/// Allows the answer of one connection to last longer than others.
#[derive(Clone, Debug, Default)]
pub(super) struct LastingAnswer(Arc<AtomicBool>);

impl LastingAnswer {
    /// Who asks has shown a key.
    pub(super) fn allow(&self) {
        self.0.store(true, Relaxed);
    }
}

pub(super) struct HttpListener {
    listener: TcpListener,
    places: ContendedPlaces,
    lifetime: Duration,
    answer_lifetime: Duration,
    failures_in_a_row: u64,
    counters: Arc<HttpCounters>,
}

impl HttpListener {
    pub(super) fn new(listener: TcpListener, counters: Arc<HttpCounters>) -> Self {
        Self {
            listener,
            places: ContendedPlaces::new(CONNECTIONS, CONNECTIONS_PER_ADDRESS),
            lifetime: LIFETIME,
            answer_lifetime: LIFETIME,
            failures_in_a_row: 0,
            counters,
        }
    }

    /// A listener for public addresses.
    pub(super) fn for_the_public(listener: TcpListener, counters: Arc<HttpCounters>) -> Self {
        Self {
            places: ContendedPlaces::new(PUBLIC_CONNECTIONS, CONNECTIONS_PER_ADDRESS),
            answer_lifetime: PUBLIC_LIFETIME,
            ..Self::new(listener, counters)
        }
    }

    /// Counts a failure to accept. Returns whether to wait before the next attempt.
    fn note_failure(&mut self, error: &io::Error) -> bool {
        use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
        if let ConnectionAborted | ConnectionRefused | ConnectionReset = error.kind() {
            // The peer's fault.
            return false;
        }
        self.counters.accept_failed.fetch_add(1, Relaxed);
        if self.failures_in_a_row.is_multiple_of(FAILURES_PER_LINE) {
            tracing::error!(
                "HTTP connections can't be accepted; if too many files are open, raise the \
                 process's limit (`ulimit -n`, `LimitNOFILE`): {error}"
            );
        }
        self.failures_in_a_row += 1;
        true
    }
}

impl Listener for HttpListener {
    type Io = HttpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (HttpStream, SocketAddr) {
        loop {
            let (stream, address) = match self.listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    if self.note_failure(&error) {
                        tokio::time::sleep(RETRY_AFTER).await;
                    }
                    continue;
                }
            };
            self.failures_in_a_row = 0;
            let (place, limit) = self.places.take(address.ip());
            let replaced = limit.map(|limit| match limit {
                LimitReached::Total => &self.counters.full,
                LimitReached::Share => &self.counters.address_full,
            });
            if let Some(counter) = replaced {
                counter.fetch_add(1, Relaxed);
            }
            let deadline = Box::pin(tokio::time::sleep(self.lifetime));
            let longer = self.answer_lifetime.saturating_sub(self.lifetime);
            let stream = HttpStream {
                stream,
                answer_deadline: Some(deadline.deadline() + longer),
                deadline,
                is_over: false,
                lasting: LastingAnswer::default(),
                received: 0,
                counters: Arc::clone(&self.counters),
                lost: Box::pin(place.lost()),
                _place: place,
            };
            return (stream, address);
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that fails when its time is over, when a newer one has taken its place, or when it
/// has sent too much.
pub(super) struct HttpStream {
    stream: TcpStream,
    deadline: Pin<Box<Sleep>>,
    /// `None` once it holds.
    answer_deadline: Option<Instant>,
    is_over: bool,
    lasting: LastingAnswer,
    received: usize,
    counters: Arc<HttpCounters>,
    lost: Pin<Box<WaitForCancellationFutureOwned>>,
    _place: Place,
}

impl HttpStream {
    /// The first bytes of an answer exist: from now on the deadline of answers applies. The writer
    /// of the answer calls this, because the bytes of a TLS handshake are not an answer.
    pub(super) fn note_answer(&mut self) {
        if let Some(deadline) = self.answer_deadline.take() {
            self.deadline.as_mut().reset(deadline);
        }
    }

    /// For who answers.
    pub(super) fn lasting(&self) -> &LastingAnswer {
        &self.lasting
    }

    /// Fails once the time is over or the place is lost; otherwise the task is woken then.
    fn check_end(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if !self.is_over && self.lost.as_mut().poll(context).is_ready() {
            self.is_over = true;
        }
        if !self.is_over && self.deadline.as_mut().poll(context).is_ready() {
            if self.lasting.0.swap(false, Relaxed) {
                let later = self.deadline.deadline() + LASTING_LIFETIME;
                self.deadline.as_mut().reset(later);
                return self.check_end(context);
            }
            self.is_over = true;
            self.counters.timed_out.fetch_add(1, Relaxed);
        }
        if self.is_over {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }
}

impl AsyncRead for HttpStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check_end(context)?;
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.received += buffer.filled().len() - before;
        if self.received > REQUEST_BYTES {
            self.counters.too_long.fetch_add(1, Relaxed);
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for HttpStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check_end(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    // Without these two, hyper copies a whole answer into the connection's buffer.
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check_end(context)?;
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::future::IntoFuture as _;

    use axum::Router;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpSocket;

    use super::*;

    #[tokio::test]
    async fn a_connection_that_sends_nothing_is_closed() {
        let (address, counters) = serve(Duration::from_millis(20), 64).await;
        for sent in ["", "GET / HTTP/1.1\r\nHost: x\r\n"] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(sent.as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            // Ends when the server closes the connection.
            let _ = stream.read_to_end(&mut answer).await;
            assert_eq!(answer, b"");
        }
        assert_eq!(drops(&counters, "http/timed_out"), 2);
    }

    #[tokio::test]
    async fn above_the_limit_of_an_address_its_oldest_connection_makes_way() {
        let (address, counters) = serve(LIFETIME, 2).await;
        let mut slow = Vec::new();
        for _ in 0..2 {
            slow.push(slow_client([127, 0, 0, 1], address).await);
        }
        assert_eq!(ask(address).await, "fine");
        let mut answer = Vec::new();
        let _ = slow[0].read_to_end(&mut answer).await;
        assert_eq!(answer, b"");
        assert_eq!(drops(&counters, "http/address_full"), 1);
        assert_eq!(drops(&counters, "http/timed_out"), 0);
        // That place is free again.
        assert_eq!(ask(address).await, "fine");
        assert_eq!(drops(&counters, "http/address_full"), 1);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn slow_clients_at_two_addresses_keep_out_nobody_else() {
        let (address, counters) = serve(LIFETIME, CONNECTIONS_PER_ADDRESS).await;
        let mut slow = Vec::new();
        for _ in 0..CONNECTIONS {
            slow.push(slow_client([127, 0, 0, 2], address).await);
            slow.push(slow_client([127, 0, 0, 3], address).await);
        }
        for asked in 1..=23 {
            assert_eq!(ask(address).await, "fine", "{asked}");
            slow.push(slow_client([127, 0, 0, 2], address).await);
        }
        assert!(drops(&counters, "http/full") > 0);
        assert_eq!(drops(&counters, "http/timed_out"), 0);
    }

    /// A connection whose request does not end.
    async fn slow_client(from: [u8; 4], to: SocketAddr) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((from, 0).into()).unwrap();
        let mut stream = socket.connect(to).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        stream
    }

    async fn ask(address: SocketAddr) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer.split_off(answer.find("\r\n\r\n").expect("a head") + 4)
    }

    #[tokio::test]
    async fn a_request_that_is_too_long_is_closed_and_counted() {
        let (address, counters) = serve(LIFETIME, 64).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = "GET / HTTP/1.1\r\nHost: x\r\nX: ";
        let request = format!("{head}{}", "x".repeat(REQUEST_BYTES));
        let _ = stream.write_all(request.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert_eq!(drops(&counters, "http/too_long"), 1);
    }

    #[tokio::test]
    async fn only_an_answer_has_the_public_s_long_time() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut listener = HttpListener::for_the_public(listener, Arc::default());
        let address = listener.local_addr().unwrap();
        let _client = TcpStream::connect(address).await.unwrap();
        let (mut stream, _) = listener.accept().await;
        assert!(stream.is_write_vectored());
        let first = stream.deadline.deadline();
        for _ in 0..2 {
            stream.note_answer();
            let longer = PUBLIC_LIFETIME.checked_sub(LIFETIME).unwrap();
            assert_eq!(stream.deadline.deadline(), first + longer);
        }
    }

    #[tokio::test]
    async fn failures_to_accept_are_counted_unless_they_are_the_peer_s() {
        let counters = Arc::<HttpCounters>::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut listener = HttpListener::new(listener, Arc::clone(&counters));
        // EMFILE on Unix.
        assert!(listener.note_failure(&io::Error::from_raw_os_error(24)));
        assert!(!listener.note_failure(&io::ErrorKind::ConnectionAborted.into()));
        assert_eq!(drops(&counters, "http/accept_failed"), 1);
    }

    async fn serve(lifetime: Duration, per_address: usize) -> (SocketAddr, Arc<HttpCounters>) {
        let counters = Arc::<HttpCounters>::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listener = HttpListener {
            places: ContendedPlaces::new(CONNECTIONS, per_address),
            lifetime,
            ..HttpListener::new(listener, Arc::clone(&counters))
        };
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(|| async { "fine" }));
        tokio::spawn(axum::serve(listener, router).into_future());
        (address, counters)
    }

    fn drops(counters: &HttpCounters, name: &str) -> u64 {
        let drops = counters.drops();
        drops.iter().find(|(known, _)| *known == name).unwrap().1
    }
}
