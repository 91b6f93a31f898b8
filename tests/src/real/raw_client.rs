//! A client that sends arbitrary messages over a real QUIC connection, for tests of bad input.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ambit_proto::control::game::{
    ClientToGame, GameToClient, Join, PoseCoding, client_to_game, game_to_client,
};
use ambit_proto::control::world::{
    ClientToWorld, Hello, WorldToClient, client_to_world, world_to_client,
};
use ambit_proto::frame::{FrameDecoder, MAX_FROM_WORLD, encode_frame};
use ambit_transport::quic::{self, ALPN_WEB, Fingerprint, FingerprintVerifier};
use anyhow::{Context, Result, bail, ensure};
use prost::Message;
use tokio::task::JoinSet;
use url::Url;
use web_transport_proto::http::StatusCode;
use web_transport_proto::{ConnectRequest, ConnectResponse, Frame, Settings, VarInt as WebVarInt};

use super::WAIT_LIMIT;

/// One connection with its control stream.
pub struct RawClient {
    /// Kept alive with the connection.
    pub endpoint: quinn::Endpoint,
    pub connection: quinn::Connection,
    send: quinn::SendStream,
    receive: quinn::RecvStream,
    decoder: FrameDecoder,
    last_request: u64,
    /// Streams of HTTP/3 that end the session when they end.
    _web: Vec<quinn::SendStream>,
}

impl RawClient {
    /// Connects with this protocol and opens the control stream; accepts any certificate.
    pub async fn connect(server: SocketAddr, alpn: &[u8]) -> Result<Self> {
        let endpoint = quinn::Endpoint::client("127.0.0.1:0".parse()?)?;
        Self::connect_over(endpoint, server, alpn).await
    }

    /// As [`Self::connect`], over a socket that others may share.
    pub async fn connect_over(
        endpoint: quinn::Endpoint,
        server: SocketAddr,
        alpn: &[u8],
    ) -> Result<Self> {
        let connecting = endpoint.connect_with(trust_any_certificate(alpn), server, "ambit")?;
        let connection = tokio::time::timeout(WAIT_LIMIT, connecting).await??;
        let (send, receive) = connection.open_bi().await?;
        let decoder = FrameDecoder::new(MAX_FROM_WORLD);
        Ok(RawClient {
            endpoint,
            connection,
            send,
            receive,
            decoder,
            last_request: 0,
            _web: Vec::new(),
        })
    }

    /// Connects by WebTransport, as browsers do, to a server that shows one of these certificates.
    /// The client's datagrams begin with a 0: the quarter of the number of its session.
    pub async fn connect_by_web(
        server: SocketAddr,
        path: &str,
        certificates: &[Fingerprint],
    ) -> Result<Self> {
        let certificates = certificates.to_vec();
        let verifier = FingerprintVerifier::with_policy(move |_: &str, shown: Fingerprint| {
            certificates.contains(&shown)
        });
        let mut config = quic::client_config(ALPN_WEB, verifier);
        let mut transport = quic::transport_config(quinn::Side::Client);
        transport.max_concurrent_uni_streams(3_u8.into());
        config.transport_config(Arc::new(transport));
        let endpoint = quinn::Endpoint::client("127.0.0.1:0".parse()?)?;
        let connecting = endpoint.connect_with(config, server, "ambit")?;
        let connection = tokio::time::timeout(WAIT_LIMIT, connecting).await??;

        let mut settings = Settings::default();
        settings.enable_webtransport(1);
        let mut own = connection.open_uni().await?;
        settings.write(&mut own).await?;
        let (mut question, mut answer) = connection.open_bi().await?;
        let request = ConnectRequest::new(format!("https://{server}{path}").parse::<Url>()?);
        request.write(&mut question).await?;
        let answer = ConnectResponse::read(&mut answer).await?;
        ensure!(answer.status == StatusCode::OK, "{path}: {}", answer.status);

        let (mut send, receive) = connection.open_bi().await?;
        let mut session = Vec::new();
        Frame::WEBTRANSPORT.encode(&mut session);
        WebVarInt::from_u32(0).encode(&mut session);
        send.write_all(&session).await?;
        Ok(RawClient {
            endpoint,
            connection,
            send,
            receive,
            decoder: FrameDecoder::new(MAX_FROM_WORLD),
            last_request: 0,
            _web: vec![own, question],
        })
    }

    /// Opens many connections that complete the handshake and then send nothing.
    pub async fn connect_silent(
        server: SocketAddr,
        alpn: &[u8],
        count: usize,
    ) -> Result<Vec<quinn::Connection>> {
        let endpoint = quinn::Endpoint::client("127.0.0.1:0".parse()?)?;
        let attempts =
            (0..count).map(|_| endpoint.connect_with(trust_any_certificate(alpn), server, "ambit"));
        let mut connecting =
            attempts.collect::<Result<Vec<_>, _>>()?.into_iter().collect::<JoinSet<_>>();
        let mut connections = Vec::new();
        while let Some(connection) = connecting.join_next().await {
            connections.push(connection??);
        }
        Ok(connections)
    }

    /// Writes bytes as they are.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.send.write_all(bytes).await.context("the stream is closed for writing")
    }

    /// Sends a lobby request and returns the answer.
    pub async fn request_answer(&mut self, body: client_to_world::Body) -> Result<WorldToClient> {
        self.last_request += 1;
        let request = self.last_request;
        self.write(&encode_frame(&ClientToWorld { request, body: Some(body) })).await?;
        loop {
            let answer = self.next_world_message().await?;
            if answer.request == request {
                return Ok(answer);
            }
        }
    }

    /// Sends a lobby request without waiting for the answer.
    pub async fn send_request(&mut self, body: client_to_world::Body) -> Result<()> {
        self.last_request += 1;
        let request = self.last_request;
        self.write(&encode_frame(&ClientToWorld { request, body: Some(body) })).await
    }

    /// Sends a hello with a resume token.
    pub async fn resume(
        &mut self,
        name: &str,
        resume_token: Vec<u8>,
    ) -> Result<world_to_client::Body> {
        let version = ambit_proto::control::WORLD_VERSION;
        let hello = Hello { version, name: name.to_owned(), resume_token, ..Hello::default() };
        self.request_answer(client_to_world::Body::Hello(hello))
            .await?
            .body
            .context("an answer without a body")
    }

    /// Sends a hello with a name.
    pub async fn hello(&mut self, name: &str) -> Result<world_to_client::Body> {
        let hello = Hello {
            version: ambit_proto::control::WORLD_VERSION,
            name: name.to_owned(),
            ..Hello::default()
        };
        self.request_answer(client_to_world::Body::Hello(hello))
            .await?
            .body
            .context("an answer without a body")
    }

    /// Sends a ticket.
    pub async fn join(&mut self, ticket: Vec<u8>) -> Result<game_to_client::Body> {
        self.join_with(ticket, PoseCoding::Auto).await
    }

    /// Sends a ticket, and how poses are to be coded.
    pub async fn join_with(
        &mut self,
        ticket: Vec<u8>,
        coding: PoseCoding,
    ) -> Result<game_to_client::Body> {
        let join = ClientToGame {
            body: Some(client_to_game::Body::Join(Join {
                version: ambit_proto::message::VERSION,
                ticket,
                coding: coding.into(),
            })),
        };
        self.write(&encode_frame(&join)).await?;
        let frame = self.next_frame().await?;
        GameToClient::decode(frame)?.body.context("an answer without a body")
    }

    pub async fn next_world_message(&mut self) -> Result<WorldToClient> {
        Ok(WorldToClient::decode(self.next_frame().await?)?)
    }

    /// The next lobby message for which `wanted` returns a value; that value.
    pub async fn find<T>(
        &mut self,
        mut wanted: impl FnMut(world_to_client::Body) -> Option<T>,
    ) -> Result<T> {
        loop {
            if let Some(found) = self.next_world_message().await?.body.and_then(&mut wanted) {
                return Ok(found);
            }
        }
    }

    /// Waits until the server has closed the connection.
    pub async fn wait_closed(&self) -> Result<quinn::ConnectionError> {
        tokio::time::timeout(WAIT_LIMIT, self.connection.closed())
            .await
            .context("the server did not close the connection")
    }

    /// Sleeps for a millisecond, to let the server run.
    pub async fn pause_briefly(&self) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    async fn next_frame(&mut self) -> Result<bytes::Bytes> {
        loop {
            if let Some(frame) = self.decoder.poll_frame()? {
                return Ok(frame);
            }
            let mut buffer = [0; 4096];
            let read = tokio::time::timeout(WAIT_LIMIT, self.receive.read(&mut buffer))
                .await
                .context("no answer within the time limit")??;
            match read {
                Some(length) => self.decoder.push(&buffer[..length]),
                None => bail!("the server has ended the stream"),
            }
        }
    }
}

fn trust_any_certificate(alpn: &[u8]) -> quinn::ClientConfig {
    quic::client_config(alpn, FingerprintVerifier::with_policy(|_: &str, _: Fingerprint| true))
}
