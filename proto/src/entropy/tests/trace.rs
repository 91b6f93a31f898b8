//! Records what decoders read: for the test vectors of pose sections. Only tests compile it.

use std::cell::{Cell, RefCell};

/// What a decoder has read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TracedDecision {
    /// A bit that is 1 with a probability of `probability` / 65,536.
    Bit { probability: u32, bit: bool },
    /// A symbol of a table that adds up to 2^15.
    Symbol { start: u32, size: u32 },
    /// Uncoded bits.
    Raw { bits: u32, value: u32 },
}

/// Decisions in their order, each with what it is about.
pub(crate) type DecisionTrace = Vec<(&'static str, TracedDecision)>;

thread_local! {
    static TRACE: RefCell<Option<DecisionTrace>> = const { RefCell::new(None) };
    static LABEL: Cell<&'static str> = const { Cell::new("") };
}

/// Everything that decoders read on this thread while `run` runs.
pub(crate) fn record<T>(run: impl FnOnce() -> T) -> (T, DecisionTrace) {
    TRACE.set(Some(Vec::new()));
    let result = run();
    (result, TRACE.take().expect("it was set above"))
}

/// The next decisions are about this.
pub(crate) fn label(label: &'static str) {
    LABEL.set(label);
}

pub(crate) fn push(decision: TracedDecision) {
    TRACE.with_borrow_mut(|trace| {
        if let Some(trace) = trace {
            trace.push((LABEL.get(), decision));
        }
    });
}
