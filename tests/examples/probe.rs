//! Temporary.
use ambit_tests::cubes::{Cubes, PARAMETERS};
use ambit_tests::sim::wire;
use std::time::Duration;
fn main() {
    let loss: f32 = std::env::args().nth(1).unwrap().parse().unwrap();
    let line = format!("loss={loss},delay=40ms,jitter=10ms,reorder=5,duplicate=2");
    let budget = std::env::args().nth(2).unwrap_or("256".into());
    let tick = std::env::args().nth(3).unwrap_or("60".into());
    let mut parameters = PARAMETERS.to_vec();
    for (key, value) in &mut parameters {
        if *key == "budget" {
            *value = budget.clone().leak();
        }
        if *key == "tick" {
            *value = tick.clone().leak();
        }
    }
    let parameters = [&parameters[..], &[("renewed", "10")]].concat();
    let mut cubes = Cubes::new(7, 2, &line.parse().unwrap(), "tumble", &parameters);
    cubes.tap();
    for second in 0..20 {
        let before = cubes.system.room(cubes.room).unwrap().stats().clone();
        let ages = cubes.ages(&[0, 1], Duration::from_secs(1), 8, |_, _, _| false);
        let room = cubes.system.room(cubes.room).unwrap();
        let s = room.stats();
        let viewer = room.network().viewers().next().unwrap();
        let link = viewer.link().stats();
        let sent = cubes.system.guest(0).sent_to.as_ref().unwrap();
        let lately: Vec<_> = sent.iter().filter(|x| x.0 + Duration::from_secs(1) > cubes.system.now()).cloned().collect();
        let oracle = cubes.system.poses(cubes.room).unwrap();
        let (client, avatar) = cubes.viewer(0).unwrap();
        let here = room.world().position(avatar);
        let viewer = room.network().viewer(client).unwrap();
        for (object, seen) in oracle.shown(client, &cubes.system.guest(0).client) {
            let age = oracle.age(object, Some(&seen), 8);
            if age > Duration::from_secs(2) && std::env::var("SHOW").is_ok() && oracle.has_moved(object, Duration::from_secs(1)) {
                let now = room.world().now().saturating_sub(room.config().delay);
                println!("   {object:?} age {age:?} last pose {:?} ago, at {:?}, truth {:?}, flag {}, {} m away, shown {:?}",
                    now.since(seen.last_pose().unwrap()), seen.pose(room.world().now()).unwrap().at, room.world().pose(object).at, room.world().pose(object).flag,
                    here.ground_distance(room.world().position(object)), viewer.slots.alias(object));
            }
        }
        println!(
            "{second}: {} B, {} datagrams, rate {} {:?} usual {:.2} rtt {:.0} acked {} lost {} wasted {} | poses {} deferred {} foretold {} | records bits {} pose bits {} | near p50 {:?} p99 {:?} max {:?} | not shown {} p99 {:?}| deaf? due {}",
            wire::bytes(&lately), lately.len(), link.budget_bytes_per_s, link.pressure, link.usual_loss, link.rtt_ms, link.acked, link.lost, link.wasted,
            s.poses.sent - before.poses.sent, s.poses.deferred - before.poses.deferred, s.poses.foretold - before.poses.foretold,
            s.bits.records - before.bits.records, s.bits.pose_contents - before.bits.pose_contents,
            ages.shown.near.quantile_ms(0.5), ages.shown.near.quantile_ms(0.99), ages.shown.near.max(),
            ages.not_shown.count(), ages.not_shown.quantile_ms(0.99), viewer.slots.has_due()
        );
    }
}
