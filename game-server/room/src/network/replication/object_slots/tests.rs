//! Slots of objects of one viewer.

use super::*;

const ORC: ObjectId = ObjectId(7);
const ELF: ObjectId = ObjectId(9);

#[test]
fn an_object_is_sent_in_full_until_acknowledged_then_by_changes() {
    let mut slots = following(ORC);
    let first = send(&mut slots, 1);
    assert_eq!(contents(&first), [RecordContent::Enter(0b11)]);
    slots.mark_changed(ORC, 0b10, GameTime::ZERO, GameTime::ZERO);
    let second = send(&mut slots, 2);
    assert_eq!(contents(&second), [RecordContent::Enter(0b11)]);
    slots.handle_acked(first[0], Seq(1));
    slots.mark_changed(ORC, 0b01, GameTime::ZERO, GameTime::ZERO);
    assert_eq!(contents(&send(&mut slots, 3)), [RecordContent::Update(0b01)]);
}

#[test]
fn the_contents_of_a_lost_packet_are_due_again() {
    let mut slots = live(ORC);
    slots.mark_changed(ORC, 0b10, GameTime::ZERO, GameTime::ZERO);
    let records = send(&mut slots, 2);
    assert!(send(&mut slots, 3).is_empty());
    slots.handle_lost(records[0], Seq(2));
    assert_eq!(contents(&send(&mut slots, 4)), [RecordContent::Update(0b10)]);
}

#[test]
fn a_component_that_a_newer_packet_carried_is_not_due_again() {
    let mut slots = live(ORC);
    slots.mark_changed(ORC, 0b11, GameTime::ZERO, GameTime::ZERO);
    let older = send(&mut slots, 2);
    slots.mark_changed(ORC, 0b01, GameTime::ZERO, GameTime::ZERO);
    send(&mut slots, 3);
    slots.handle_lost(older[0], Seq(2));
    assert_eq!(contents(&send(&mut slots, 4)), [RecordContent::Update(0b10)]);
}

#[test]
fn an_object_that_was_never_sent_needs_no_leave() {
    let mut slots = following(ORC);
    slots.unfollow(ORC, GameTime::ZERO);
    assert!(send(&mut slots, 1).is_empty());
}

#[test]
fn an_alias_is_reused_under_a_new_epoch_after_its_leave_is_acknowledged() {
    let mut slots = live(ORC);
    let alias = slots.alias(ORC).expect("followed");
    slots.unfollow(ORC, GameTime::ZERO);
    let leave = send(&mut slots, 2);
    assert_eq!(contents(&leave), [RecordContent::Leave]);
    slots.follow(entering(ELF), GameTime::ZERO);
    assert_ne!(slots.alias(ELF).expect("followed").slot, alias.slot);
    slots.handle_lost(leave[0], Seq(2));
    let again = send(&mut slots, 3);
    assert!(contents(&again).contains(&RecordContent::Leave));
    for record in again {
        slots.handle_acked(record, Seq(3));
    }
    slots.follow(entering(ORC), GameTime::ZERO);
    assert_eq!(slots.alias(ORC), Some(Alias { slot: alias.slot, epoch: alias.epoch + 1 }));
}

#[test]
fn packets_of_an_earlier_epoch_change_nothing() {
    let mut slots = live(ORC);
    slots.mark_changed(ORC, 0b01, GameTime::ZERO, GameTime::ZERO);
    let late = send(&mut slots, 2);
    slots.unfollow(ORC, GameTime::ZERO);
    let leave = send(&mut slots, 3);
    slots.handle_acked(leave[0], Seq(3));
    slots.follow(entering(ELF), GameTime::ZERO);
    send(&mut slots, 4);
    slots.handle_lost(late[0], Seq(2));
    slots.handle_acked(leave[0], Seq(3));
    assert!(send(&mut slots, 5).is_empty());
    assert!(slots.alias(ELF).is_some());
}

#[test]
fn a_change_of_a_path_that_a_leave_overtakes_is_told_before_it() {
    let at = GameTime::from_millis;
    let due_at_leave = |changed: u16, changed_at: u64| {
        let mut slots = live(ORC);
        slots.mark_changed(ORC, changed, at(changed_at), at(0));
        slots.unfollow(ORC, at(350));
        let mut due = Vec::new();
        slots.take_due(&mut due);
        for due in &due {
            _ = slots.note_sent(due, Seq(9), 9, at(200));
        }
        let left = slots.send_deadline();
        due.clear();
        slots.take_due(&mut due);
        assert!(due.is_empty() && left.is_none(), "{due:?}");
        // The Leave is still the slot's own: its loss makes it due again.
        let leave = RecordContent::Leave;
        slots.handle_lost(SentRecord { slot: 0, epoch: 0, content: leave }, Seq(9));
        slots.take_due(&mut due);
        assert_eq!(due.iter().map(|due| due.content).collect::<Vec<_>>(), [leave]);
        slots
    };
    let contents_at_leave = |changed, changed_at| {
        let mut slots = live(ORC);
        slots.mark_changed(ORC, changed, at(changed_at), at(changed_at));
        // Another change at the time of the Leave hides none of before.
        slots.mark_changed(ORC, changed, at(350), at(350));
        slots.unfollow(ORC, at(350));
        let mut due = Vec::new();
        slots.take_due(&mut due);
        due.iter().map(|due| (due.content, due.path_until)).collect::<Vec<_>>()
    };
    let leave = (RecordContent::Leave, GameTime::MAX);
    let told = (RecordContent::LastPath, at(349));
    assert_eq!(contents_at_leave(0b01, 300), [leave, told]);
    // What changes as the object leaves is not to be known, and other components have no past.
    assert_eq!(contents_at_leave(0b01, 350), [leave]);
    assert_eq!(contents_at_leave(0b10, 300), [leave]);
    due_at_leave(0b01, 300);
}

#[test]
fn a_deferred_record_stays_due() {
    let mut slots = following(ORC);
    let mut due = Vec::new();
    slots.take_due(&mut due);
    slots.defer(&due[0]);
    assert_eq!(contents(&send(&mut slots, 1)), [RecordContent::Enter(0b11)]);
}

#[test]
fn a_timeline_is_sent_from_its_change_on_to_who_has_the_one_before() {
    const PATH: u16 = 0b01;
    const HEALTH: u16 = 0b10;
    let at = GameTime::from_millis;
    let mut slots = live(ORC);
    slots.mark_changed(ORC, PATH, at(90), at(80));
    slots.mark_changed(ORC, PATH, at(95), at(85));
    assert_eq!(as_before(&mut slots), at(80), "the earlier of two changes");
    let second = send(&mut slots, 2);
    slots.mark_changed(ORC, PATH, at(150), at(140));
    assert_eq!(as_before(&mut slots), GameTime::ZERO, "the second packet may be lost");
    let third = send(&mut slots, 3);
    slots.handle_acked(second[0], Seq(2));
    slots.mark_changed(ORC, PATH, at(250), at(240));
    assert_eq!(as_before(&mut slots), GameTime::ZERO, "the third packet may be lost");
    slots.handle_lost(third[0], Seq(3));
    assert_eq!(as_before(&mut slots), GameTime::ZERO, "the third packet is lost");
    let fourth = send(&mut slots, 4);
    slots.handle_acked(fourth[0], Seq(4));
    slots.mark_changed(ORC, PATH, at(350), at(340));
    assert_eq!(as_before(&mut slots), at(340));
    slots.mark_changed(ORC, HEALTH, at(350), at(345));
    assert_eq!(as_before(&mut slots), at(340), "two of them");
    send(&mut slots, 5);
    slots.mark_changed(ORC, HEALTH, at(450), at(440));
    assert_eq!(as_before(&mut slots), GameTime::ZERO, "the fifth packet may be lost");
}

#[test]
fn on_a_lossy_line_only_what_has_a_time_of_effect_is_sent_twice() {
    let at = GameTime::from_millis;
    let mut slots = live(ORC);
    slots.set_copies(true);
    slots.mark_changed(ORC, 0b10, at(150), at(150));
    assert_eq!(slots.send_deadline(), Some(GameTime::ZERO), "nothing waits");
    let first = send(&mut slots, 2);
    assert_eq!(slots.send_deadline(), Some(GameTime::ZERO));
    let copy = send(&mut slots, 3);
    assert_eq!([contents(&first), contents(&copy)], [[RecordContent::Update(0b10)]; 2]);
    assert!(send(&mut slots, 4).is_empty() && slots.send_deadline().is_none());
    // One of two is enough, whichever it is, and whatever is known first.
    slots.handle_lost(first[0], Seq(2));
    slots.handle_acked(copy[0], Seq(3));
    assert!(send(&mut slots, 5).is_empty());

    slots.unfollow(ORC, at(500));
    assert_eq!(contents(&send(&mut slots, 8)), [RecordContent::Leave]);
    let copy = send(&mut slots, 9);
    assert_eq!(contents(&copy), [RecordContent::Leave]);
    slots.handle_acked(copy[0], Seq(9));
    slots.follow(entering(ELF), at(600));
    assert_eq!(contents(&send(&mut slots, 10)), [RecordContent::Enter(0b11)]);
    assert_eq!(contents(&send(&mut slots, 11)), [RecordContent::Enter(0b11)]);
    assert!(send(&mut slots, 12).is_empty());
    // What walks in at the edge of the view is not urgent.
    slots.follow(EnteringObject { is_near: false, ..entering(ORC) }, at(700));
    assert_eq!(slots.send_deadline(), Some(at(600)));
    assert_eq!(send(&mut slots, 13).len(), 1);
    assert!(send(&mut slots, 14).is_empty());
}

#[test]
fn what_is_lost_twice_is_due_again_and_nothing_else_is() {
    for (lost, is_due) in [([true, true], true), ([true, false], false), ([false, true], false)] {
        for order in [[0, 1], [1, 0]] {
            let mut slots = live(ORC);
            slots.set_copies(true);
            slots.mark_changed(ORC, 0b10, GameTime::ZERO, GameTime::ZERO);
            let packets = [send(&mut slots, 2)[0], send(&mut slots, 3)[0]];
            for packet in order {
                let record = packets[packet];
                let seq = Seq(2 + packet as u16);
                if lost[packet] {
                    slots.handle_lost(record, seq);
                } else {
                    slots.handle_acked(record, seq);
                }
            }
            let due = contents(&send(&mut slots, 4));
            let expected: &[_] = if is_due { &[RecordContent::Update(0b10)] } else { &[] };
            assert_eq!(due, expected, "{lost:?}, {order:?}");
        }
    }
}

#[test]
fn a_copy_is_not_sent_of_what_has_arrived_or_may_not_be_known_any_more() {
    let mut slots = live(ORC);
    slots.set_copies(true);
    slots.mark_changed(ORC, 0b11, GameTime::ZERO, GameTime::ZERO);
    let first = send(&mut slots, 2);
    slots.handle_acked(first[0], Seq(2));
    assert!(send(&mut slots, 3).is_empty());
    slots.mark_changed(ORC, 0b11, GameTime::ZERO, GameTime::ZERO);
    send(&mut slots, 4);
    slots.set_audience(ORC, 0b01, false, GameTime::ZERO);
    assert_eq!(contents(&send(&mut slots, 5)), [RecordContent::Update(0b01)]);
    slots.mark_changed(ORC, 0b01, GameTime::ZERO, GameTime::ZERO);
    send(&mut slots, 6);
    slots.unfollow(ORC, GameTime::ZERO);
    assert_eq!(contents(&send(&mut slots, 7)), [RecordContent::Leave]);
}

#[test]
fn a_copy_is_sent_from_the_same_change_on_with_what_has_changed_since() {
    const PATH: u16 = 0b01;
    const HEALTH: u16 = 0b10;
    let at = GameTime::from_millis;
    let mut slots = live(ORC);
    slots.set_copies(true);
    slots.mark_changed(ORC, PATH, at(150), at(140));
    send(&mut slots, 2);
    assert_eq!(as_before(&mut slots), at(140), "the client has what was before both");
    slots.mark_changed(ORC, HEALTH, at(200), at(190));
    assert_eq!(as_before(&mut slots), at(140));
    let both = send(&mut slots, 3);
    assert_eq!(contents(&both), [RecordContent::Update(PATH | HEALTH)]);
    assert_eq!(as_before(&mut slots), at(140), "only of what is new");
    assert_eq!(contents(&send(&mut slots, 4)), [RecordContent::Update(HEALTH)]);
    slots.mark_changed(ORC, PATH, at(300), at(290));
    assert_eq!(as_before(&mut slots), GameTime::ZERO, "the third packet may be lost");
}

/// From when on the timelines are due, which stay due.
fn as_before(slots: &mut ObjectSlots) -> GameTime {
    let mut due = Vec::new();
    slots.take_due(&mut due);
    slots.defer(&due[0]);
    due[0].as_before
}

fn entering(object: ObjectId) -> EnteringObject {
    EnteringObject {
        object,
        kind: 0,
        is_own: false,
        components: 0b11,
        pose_slot: None,
        is_ally: false,
        is_near: true,
    }
}

fn following(object: ObjectId) -> ObjectSlots {
    let mut slots = ObjectSlots::default();
    slots.follow(entering(object), GameTime::ZERO);
    slots
}

fn live(object: ObjectId) -> ObjectSlots {
    let mut slots = following(object);
    for record in send(&mut slots, 1) {
        slots.handle_acked(record, Seq(1));
    }
    slots
}

fn send(slots: &mut ObjectSlots, seq: u16) -> Vec<SentRecord> {
    let mut due = Vec::new();
    slots.take_due(&mut due);
    due.iter().map(|due| slots.note_sent(due, Seq(seq), seq.into(), GameTime::ZERO)).collect()
}

fn contents(records: &[SentRecord]) -> Vec<RecordContent> {
    records.iter().map(|record| record.content).collect()
}
