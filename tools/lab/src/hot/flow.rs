//! One function's machine code: what it calls, and which of its calls lie in cold tails.
//!
//! A call that fails is *cold* if no way from it leads to the function's return, and its block is jumped to,
//! not fallen into: all that the hot path then has of it is a conditional jump that is not taken. Anything
//! else is *in line*.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};

use super::names::Callee;

/// Where a call or jump leads outside the function: an address, or the slot that the linker fills with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Target {
    /// Code at this address.
    Code(u64),
    /// What the slot at this address points to.
    Slot(u64),
}

/// A call, or a jump to another function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// Where the instruction is.
    pub(super) address: u64,
    /// What it calls; none if that is known only as it runs.
    pub(super) target: Option<Target>,
    /// In a cold tail.
    pub(super) is_cold: bool,
    /// The third argument, if the block sets it to a constant.
    pub(super) third_argument: Option<u64>,
}

/// Where an instruction can lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// To the next one; also a call.
    Next,
    /// To one of the function's own, and to the next if it is conditional.
    Jump { to: usize, conditional: bool },
    /// Back to the caller, to another function that returns, or to who knows where.
    Out { conditional: bool },
    /// Nowhere: a trap, or a call that does not return.
    End,
}

/// The calls in the `code` of a function that is at `address`; `judge` tells what a target is.
pub(super) fn calls(code: &[u8], address: u64, judge: &dyn Fn(Target) -> Callee) -> Vec<Call> {
    let instructions: Vec<Instruction> =
        Decoder::with_ip(64, code, address, DecoderOptions::NONE).into_iter().collect();
    let steps: Vec<Step> = instructions.iter().map(|i| step(i, &instructions, judge)).collect();
    let returns = returns(&steps);
    let mut found = Vec::new();
    for (at, instruction) in instructions.iter().enumerate() {
        if !is_call(instruction, &instructions) {
            continue;
        }
        found.push(Call {
            address: instruction.ip(),
            target: target(instruction),
            is_cold: is_cold(at, &steps, &returns),
            third_argument: third_argument(&instructions[..at]),
        });
    }
    found
}

/// Whether a function at `address` returns at all, as far as its own code shows.
pub(super) fn can_return(code: &[u8], address: u64, judge: &dyn Fn(Target) -> Callee) -> bool {
    let instructions: Vec<Instruction> =
        Decoder::with_ip(64, code, address, DecoderOptions::NONE).into_iter().collect();
    let steps: Vec<Step> = instructions.iter().map(|i| step(i, &instructions, judge)).collect();
    returns(&steps).first().copied().unwrap_or(true)
}

/// Addresses of all instructions.
pub(super) fn addresses(code: &[u8], address: u64) -> impl Iterator<Item = u64> {
    Decoder::with_ip(64, code, address, DecoderOptions::NONE).into_iter().map(|i| i.ip())
}

fn is_call(instruction: &Instruction, all: &[Instruction]) -> bool {
    match instruction.flow_control() {
        FlowControl::Call | FlowControl::IndirectCall => true,
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
            position(all, instruction.near_branch_target()).is_none()
        }
        FlowControl::IndirectBranch => instruction.is_ip_rel_memory_operand(),
        _ => false,
    }
}

fn target(instruction: &Instruction) -> Option<Target> {
    match instruction.op0_kind() {
        OpKind::NearBranch64 => Some(Target::Code(instruction.near_branch_target())),
        OpKind::Memory if instruction.is_ip_rel_memory_operand() => {
            Some(Target::Slot(instruction.ip_rel_memory_address()))
        }
        _ => None,
    }
}

fn position(all: &[Instruction], address: u64) -> Option<usize> {
    all.binary_search_by_key(&address, Instruction::ip).ok()
}

fn step(instruction: &Instruction, all: &[Instruction], judge: &dyn Fn(Target) -> Callee) -> Step {
    let ends = || target(instruction).is_some_and(|t| matches!(judge(t), Callee::Panic | Callee::Unwind));
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::XbeginXabortXend => Step::Next,
        FlowControl::Call | FlowControl::IndirectCall if ends() => Step::End,
        FlowControl::Call | FlowControl::IndirectCall => Step::Next,
        flow @ (FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch) => {
            let conditional = flow == FlowControl::ConditionalBranch;
            match position(all, instruction.near_branch_target()) {
                Some(to) => Step::Jump { to, conditional },
                None if !ends() => Step::Out { conditional },
                None if conditional => Step::Next,
                None => Step::End,
            }
        }
        FlowControl::IndirectBranch if ends() => Step::End,
        FlowControl::IndirectBranch | FlowControl::Return => Step::Out { conditional: false },
        FlowControl::Interrupt | FlowControl::Exception => Step::End,
    }
}

/// Whether an instruction leads on to the one after it.
fn falls(step: Step) -> bool {
    matches!(step, Step::Next | Step::Jump { conditional: true, .. } | Step::Out { conditional: true })
}

/// For each instruction, whether some way leads from it out of the function by a return.
fn returns(steps: &[Step]) -> Vec<bool> {
    let mut returns: Vec<bool> = steps.iter().map(|step| matches!(step, Step::Out { .. })).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..steps.len()).rev().filter(|&at| !matches!(steps[at], Step::End)) {
            let next = falls(steps[at]) && returns.get(at + 1).copied().unwrap_or(false);
            let jump = matches!(steps[at], Step::Jump { to, .. } if returns[to]);
            if (next || jump) && !returns[at] {
                returns[at] = true;
                changed = true;
            }
        }
    }
    returns
}

/// Whether the instruction at `at` cannot lead to a return, nor is fallen into from one that can.
fn is_cold(at: usize, steps: &[Step], returns: &[bool]) -> bool {
    let mut first = at;
    loop {
        if returns[first] || first == 0 {
            return false;
        }
        if !falls(steps[first - 1]) {
            return true;
        }
        first -= 1;
    }
}

/// The constant that the third argument is set to in the straight code that ends here.
fn third_argument(before: &[Instruction]) -> Option<u64> {
    let straight = before.iter().rev().take_while(|i| i.flow_control() == FlowControl::Next);
    let sets = |i: &&Instruction| {
        i.op0_kind() == OpKind::Register && i.op0_register().full_register() == Register::RDX
    };
    let last = straight.take(16).find(sets)?;
    let is_constant = last.mnemonic() == Mnemonic::Mov && last.try_immediate(1).is_ok();
    is_constant.then(|| last.immediate(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function at 0x1000; code at 0x9000 panics, at 0x9100 makes text.
    fn judge(target: Target) -> Callee {
        match target {
            Target::Code(0x9000) => Callee::Panic,
            Target::Code(0x9100) => Callee::Format,
            _ => Callee::Other,
        }
    }

    fn call_to(at: u64, target: u64) -> Vec<u8> {
        let distance = (target - (at + 5)) as u32;
        [&[0xe8][..], &distance.to_le_bytes()].concat()
    }

    const TEST: [u8; 2] = [0x85, 0xff]; // test edi, edi
    const RETURN: u8 = 0xc3;

    #[test]
    fn a_panic_that_is_jumped_to_behind_the_return_is_cold() {
        // test; jz +1; ret; call panic
        let code = [&TEST[..], &[0x74, 1, RETURN], &call_to(0x1005, 0x9000)].concat();
        let calls = calls(&code, 0x1000, &judge);
        assert_eq!(calls.len(), 1);
        assert!(calls[0].is_cold && calls[0].address == 0x1005);
        assert_eq!(calls[0].target, Some(Target::Code(0x9000)));
    }

    #[test]
    fn a_panic_that_is_fallen_into_is_in_line() {
        // test; jnz +5; call panic; ret
        let code = [&TEST[..], &[0x75, 5], &call_to(0x1004, 0x9000), &[RETURN]].concat();
        assert!(!calls(&code, 0x1000, &judge)[0].is_cold);
    }

    #[test]
    fn text_that_is_made_on_a_way_to_the_return_is_in_line_wherever_it_stands() {
        // test; jz +1; ret; call format; ret
        let code = [&TEST[..], &[0x74, 1, RETURN], &call_to(0x1005, 0x9100), &[RETURN]].concat();
        assert!(!calls(&code, 0x1000, &judge)[0].is_cold);
        // ... or before it jumps back to the return at 0x1004.
        let code = [&TEST[..], &[0x74, 1, RETURN], &call_to(0x1005, 0x9100), &[0xeb, 0xf8]].concat();
        assert!(!calls(&code, 0x1000, &judge)[0].is_cold);
        // Text for a panic is cold.
        let code =
            [&TEST[..], &[0x74, 1, RETURN], &call_to(0x1005, 0x9100), &call_to(0x100a, 0x9000)].concat();
        assert!(calls(&code, 0x1000, &judge).iter().all(|call| call.is_cold));
    }

    #[test]
    fn a_function_of_panics_alone_returns_never_and_is_not_cold_in_itself() {
        let code = call_to(0x1000, 0x9000);
        assert!(!can_return(&code, 0x1000, &judge) && !calls(&code, 0x1000, &judge)[0].is_cold);
        assert!(can_return(&[RETURN], 0x1000, &judge));
    }

    #[test]
    fn jumps_out_of_the_function_are_calls() {
        // jmp to 0x2000 (rel32); and through a slot: jmp [rip + 0x10]
        let code = [0xe9, 0xfb, 0x0f, 0, 0];
        let found = calls(&code, 0x1000, &judge);
        assert_eq!(found[0].target, Some(Target::Code(0x2000)));
        let code = [0xff, 0x25, 0x10, 0, 0, 0];
        assert_eq!(calls(&code, 0x1000, &judge)[0].target, Some(Target::Slot(0x1016)));
        // An indirect jump may return: what leads there is no cold tail.
        let code = [&call_to(0x1000, 0x9100)[..], &[0xff, 0xe0]].concat();
        assert!(!calls(&code, 0x1000, &judge)[0].is_cold);
    }

    #[test]
    fn constant_lengths_of_copies_are_seen() {
        // mov edx, 0x200; call
        let code = [&[0xba, 0, 2, 0, 0][..], &call_to(0x1005, 0x9200), &[RETURN]].concat();
        assert_eq!(calls(&code, 0x1000, &judge)[0].third_argument, Some(0x200));
        // mov edx, 0x200; mov edx, eax; call
        let code = [&[0xba, 0, 2, 0, 0, 0x89, 0xc2][..], &call_to(0x1007, 0x9200), &[RETURN]].concat();
        assert_eq!(calls(&code, 0x1000, &judge)[0].third_argument, None);
    }
}
