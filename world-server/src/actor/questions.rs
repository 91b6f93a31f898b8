//! Questions of operators to rooms, until the rooms' hosts answer.
//!
//! Bound: [`MAX_WAITING`] questions wait; a further one is refused. One that gets no answer waits
//! until its asker goes away.

use std::collections::BTreeMap;

use ambit_lobby::{HostId, OperatorProblem};
use tokio::sync::oneshot;

/// Questions that wait, at most.
const MAX_WAITING: usize = 64;

/// The questions that wait; see the module.
#[derive(Default)]
pub(super) struct RoomQuestions {
    last: u64,
    waiting: BTreeMap<u64, WaitingQuestion>,
}

struct WaitingQuestion {
    host: HostId,
    asker: oneshot::Sender<Vec<u8>>,
}

impl RoomQuestions {
    /// A question to a host. Returns its number and where the answer comes.
    pub(super) fn add(
        &mut self,
        host: HostId,
    ) -> Result<(u64, oneshot::Receiver<Vec<u8>>), OperatorProblem> {
        self.waiting.retain(|_, question| !question.asker.is_closed());
        if self.waiting.len() >= MAX_WAITING {
            return Err(OperatorProblem::TooManyQuestions);
        }
        self.last += 1;
        let (asker, answer) = oneshot::channel();
        self.waiting.insert(self.last, WaitingQuestion { host, asker });
        Ok((self.last, answer))
    }

    /// A host has answered. What it was not asked is dropped.
    pub(super) fn take(&mut self, host: HostId, number: u64, answer: Vec<u8>) {
        if self.waiting.get(&number).is_some_and(|question| question.host == host)
            && let Some(question) = self.waiting.remove(&number)
        {
            // The asker may have gone away.
            let _ = question.asker.send(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_once_and_from_the_host_that_was_asked() {
        let mut questions = RoomQuestions::default();
        let (number, mut answer) = questions.add(HostId(1)).expect("none waits");
        questions.take(HostId(2), number, vec![7]);
        questions.take(HostId(1), number + 1, vec![7]);
        assert!(answer.try_recv().is_err(), "no answer yet");
        questions.take(HostId(1), number, vec![7]);
        questions.take(HostId(1), number, vec![7]);
        assert_eq!(answer.try_recv(), Ok(vec![7]));
    }

    #[test]
    fn questions_whose_askers_went_away_make_room() {
        let mut questions = RoomQuestions::default();
        let mut answers: Vec<_> =
            (0..MAX_WAITING).map(|_| questions.add(HostId(1)).expect("there is room")).collect();
        let refused = questions.add(HostId(1)).map(|(number, _)| number);
        assert_eq!(refused, Err(OperatorProblem::TooManyQuestions));
        answers.pop();
        assert!(questions.add(HostId(1)).is_ok());
    }
}
