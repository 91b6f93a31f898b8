//! A whole host within one process, and a WorldServer of which only the link exists.

use ambit::Games;
use ambit_field::FieldGame;
use ambit_host_protocol::generated::host_to_world::Body;
use ambit_host_protocol::messages::{HostSettings, RoomAssignment, WorldOrder};
use ambit_host_protocol::protobuf::messages_of_order;
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::game::Join;
use ambit_proto::ids::RoomId;
use ambit_proto::message;
use ambit_transport::ticket::TicketSigner;

use super::*;
use crate::host_link::{WorldEnd, host_link};
use crate::identity::ServerIdentity;
use crate::process_part::ProcessPart;
use crate::web_certificates::WebCertificates;

const ROOM: RoomId = RoomId(7);

#[tokio::test]
async fn joins_are_answered_and_rooms_go_on_between_two_links() {
    let (host, control) = new_host();
    assert_eq!(refusal(&host).await, ErrorCode::RoomNotRunning, "no WorldServer yet");
    assert!(!host.load().in_service);
    let (mut world, serving) = serve(control);
    order(&world, WorldOrder::Configure(settings())).await;
    order(&world, WorldOrder::OpenRoom(assignment(), None)).await;
    until(&mut world, |body| matches!(body, Body::RoomOpened(_))).await;
    assert!(host.load().in_service && host.load().rooms == 1);
    drop(world);
    let (mut control, ending) = serving.await.expect("it does not panic");
    assert_eq!(ending, HostEnding::LinkLost);
    assert_eq!(refusal(&host).await, ErrorCode::BadTicket, "its ticket is looked at");
    assert!(control.has_rooms().await, "the host has a lease");
    control.close_rooms().await;
    assert!(!control.has_rooms().await);
}

#[tokio::test]
async fn what_rooms_send_at_their_end_leaves_before_the_link_is_closed() {
    let (_host, control) = new_host();
    let (mut world, serving) = serve(control);
    order(&world, WorldOrder::Configure(settings())).await;
    order(&world, WorldOrder::OpenRoom(assignment(), None)).await;
    until(&mut world, |body| matches!(body, Body::RoomOpened(_))).await;
    order(&world, WorldOrder::HandOver).await;
    // A host with a lease makes sure that the WorldServer lives.
    let number = until(&mut world, |body| matches!(body, Body::Heartbeat(_))).await;
    let Body::Heartbeat(heartbeat) = number else { unreachable!("just looked") };
    let (number, lease) = (heartbeat.number + 9, Duration::from_secs(1));
    order(&world, WorldOrder::AcknowledgeHeartbeat { number, lease }).await;
    until(&mut world, |body| matches!(body, Body::RoomHandedOver(_))).await;
    assert!(world.messages.recv().await.is_none(), "the link ends behind it");
    let (control, ending) = serving.await.expect("it does not panic");
    assert_eq!(ending, HostEnding::HandedOver);
    assert!(!control.has_rooms().await);
}

fn new_host() -> (GameHost, HostControl) {
    let identity = ServerIdentity::generate().expect("the system has random bytes");
    let config = HostConfig {
        address: "127.0.0.1:1".into(),
        fingerprint: identity.fingerprint(),
        web_certificates: Arc::new(WebCertificates::new(&identity).expect("a certificate")),
        capacity: 4,
        label: String::new(),
        build: String::new(),
        trace: None,
        record: None,
        part: ProcessPart::whole().expect("random bytes"),
    };
    let registry = Registry::from(Games::new().with::<FieldGame>());
    GameHost::new(config, registry).expect("a thread for its clock")
}

/// Lets the host serve a WorldServer until the link ends.
fn serve(
    mut control: HostControl,
) -> (WorldEnd, tokio::task::JoinHandle<(HostControl, HostEnding)>) {
    let (world, link) = host_link();
    let serving = tokio::spawn(async move {
        let ending = control.run(link, &CancellationToken::new()).await;
        (control, ending)
    });
    (world, serving)
}

async fn order(world: &WorldEnd, order: WorldOrder) {
    for message in messages_of_order(order) {
        world.orders.send(message).await.expect("the host serves");
    }
}

/// The next message of this kind.
async fn until(world: &mut WorldEnd, is_awaited: impl Fn(&Body) -> bool) -> Body {
    loop {
        let message = world.messages.recv().await.expect("the host serves");
        if let Some(body) = message.body.filter(&is_awaited) {
            return body;
        }
    }
}

async fn refusal(host: &GameHost) -> ErrorCode {
    let join = Join { version: message::VERSION, ..Join::default() };
    let refused = host.shared.admit(join).await;
    refused.expect_err("it has no ticket").code()
}

fn settings() -> HostSettings {
    HostSettings {
        version: ambit_host_protocol::VERSION,
        ticket_key: TicketSigner::from_seed(&[7; 32]).public_key().to_vec(),
        grace_ms: 30_000,
        saves_rooms: true,
        lease: Duration::from_secs(1),
        silence: Duration::ZERO,
    }
}

fn assignment() -> RoomAssignment {
    RoomAssignment {
        room: ROOM,
        game: "field".into(),
        capacity: 4,
        incarnation: 1,
        ..RoomAssignment::default()
    }
}
