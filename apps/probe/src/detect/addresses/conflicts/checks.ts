import type { Binding, Conflict, Contender } from "../binding.ts";
import type { Claim } from "../claim.ts";
import { macBytes } from "../mac-number.ts";
import type { Clock } from "@lanthorn/runtime";
import { createConflict, noteClaim, startRound } from "./conflict.ts";
import { dueAtOf, watchedUntil } from "./due.ts";
import { blameDuplicate, expectationOf, judgeRival, type Knowledge } from "./judge-conflict.ts";
import type { Verdict } from "./verdict.ts";

/** Finds out who has an address that two MACs are claimed for: asks both, and judges by the answers and the claims. */
export interface Checks {
  /** What is being found out. */
  readonly conflicts: ReadonlySet<Conflict>;
  /** Somebody else than the owner claims an address, or the owner one that is in question. */
  onClaim(binding: Binding, claim: Claim, now: number): void;
  /** Goes on with what waits for its turn. The rest goes on by itself, each step at its time: so a capture of it is judged as the link was. */
  tick(now: number): void;
}

/** What follows from a check. `duplicate` comes again for as long as both answer. */
export interface CheckOutcome {
  readonly conflict: Conflict;
  readonly rival: Contender;
  readonly verdict: Exclude<Verdict, "again" | "watch" | "keep"> | "duplicate-over";
}

/** What checks need. */
export interface ChecksDeps extends Omit<Knowledge, "expected" | "wasRejected"> {
  readonly clock: Pick<Clock, "monotonic">;
  readonly after: Clock["after"];
  /** Asks one host alone. */
  readonly ask: (binding: Binding, mac: Uint8Array) => void;
  /** Asks a rival for an address that nobody has. @returns Whether it was asked. */
  readonly askDecoy: (binding: Binding, source: number) => boolean;
  /** After which an incident that nobody repeats is over. */
  readonly quietMs: () => number;
  readonly decide: (outcome: CheckOutcome, now: number) => void;
}

interface State {
  readonly deps: ChecksDeps;
  readonly conflicts: Set<Conflict>;
  readonly expected: Map<string, boolean>;
  /** By address of a gateway or server: who claimed it while its owner answered, and when that was found out. */
  readonly rejected: Map<Binding, { readonly mac: number; readonly at: number }>;
  /** When the next step is due, monotonic milliseconds, and what forgets it. */
  wakeAt: number;
  cancel: () => void;
}

/** Others are sampled: who forges claims by the thousand is known after a few. */
const MAX_CONFLICTS = 256;
/** Each costs two packets in a second, of the eight that guards may send. */
const MAX_RUNNING = 4;
/** Of addresses that nobody is trusted to have: who makes up many keeps no other waiting. */
const MAX_UNTRUSTED_RUNNING = 2;
/** Who claims a gateway's address again within this is no guest that brought it from elsewhere. */
const REJECTED_MS = 1_800_000;
const MAX_REJECTED = 64;
const QUIET_ROUNDS = 2;
/** One device with two MACs is not asked each time it uses the other one. */
const SHARED_MS = 30_000;

/** Bounded: at most 256 addresses at once, six of them being asked; gateways and servers are not kept waiting by others. */
export function createChecks(deps: ChecksDeps): Checks {
  const state: State = { deps, conflicts: new Set(), expected: new Map(), rejected: new Map(), wakeAt: Number.POSITIVE_INFINITY, cancel: () => {} };
  const { conflicts, expected } = state;
  return {
    conflicts,
    onClaim(binding, claim, now) {
      if (claim.isAnswer && expected.size > 0) {
        const expectation = expectationOf(claim.mac, binding);
        if (expected.has(expectation)) expected.set(expectation, true);
      }
      if (binding.conflict) {
        noteClaim(binding.conflict, claim, now);
        wakeFor(state, binding.conflict, now);
        return;
      }
      const isShared = now - binding.sharedAt < SHARED_MS && (binding.sharedWith === claim.mac || binding.members.includes(claim.mac));
      if (claim.mac === binding.mac || isShared || !makeRoom(state, binding)) return;
      const conflict = createConflict(binding, now);
      binding.conflict = conflict;
      conflicts.add(conflict);
      noteClaim(conflict, claim, now);
      begin(state, conflict, now);
      wakeFor(state, conflict, now);
    },
    tick: (now) => moveAll(state, now),
  };
}

function moveAll(state: State, now: number): void {
  state.cancel();
  state.wakeAt = Number.POSITIVE_INFINITY;
  for (const conflict of state.conflicts) move(state, conflict, now);
  for (const conflict of state.conflicts) wakeFor(state, conflict, now);
}

/** What waits for others has no time of its own. */
function wakeFor(state: State, conflict: Conflict, now: number): void {
  const { deps } = state;
  const dueAt = dueAtOf(conflict, deps.quietMs());
  if (conflict.phase === "waiting" || dueAt >= state.wakeAt) return;
  state.cancel();
  state.wakeAt = dueAt;
  state.cancel = deps.after(Math.max(0, dueAt - now), () => moveAll(state, deps.clock.monotonic()));
}

/** The oldest that matters less gives way: who makes up conflicts hides no claim of a gateway's address. */
function makeRoom(state: State, binding: Binding): boolean {
  const { conflicts, deps } = state;
  if (conflicts.size < MAX_CONFLICTS) return true;
  const rank = deps.rankOf(binding);
  for (const conflict of rank > 0 ? conflicts : []) {
    if (conflict.phase.startsWith("reported") || deps.rankOf(conflict.binding) >= rank) continue;
    drop(state, conflict);
    return true;
  }
  return false;
}

function drop({ conflicts }: State, conflict: Conflict): void {
  conflict.binding.conflict = null;
  conflicts.delete(conflict);
}

/** A group's MAC is many hosts' or nobody's: it is not asked. */
function ask({ deps }: State, { binding, owner }: Conflict, contender: Contender, now: number): void {
  const mac = macBytes(contender.mac);
  if (((mac[0] as number) & 1) !== 0 || contender.mac === 0 || (contender === owner && deps.isOwn(binding))) return;
  contender.askedAt = now;
  deps.ask(binding, mac);
}

function begin(state: State, conflict: Conflict, now: number): boolean {
  const rank = state.deps.rankOf(conflict.binding);
  const isImportant = conflict.binding.isTrusted || rank > 0;
  let running = 0;
  for (const { phase } of state.conflicts) if (phase === "rivals-asked" || phase === "owner-asked" || phase === "both-answered" || phase === "asked-again") running += 1;
  if (running >= (isImportant ? MAX_RUNNING + rank : MAX_UNTRUSTED_RUNNING)) return false;
  startRound(conflict, "waiting", now);
  startRound(conflict, "rivals-asked", now);
  for (const rival of conflict.rivals) ask(state, conflict, rival, now);
  return true;
}

function askAll(state: State, conflict: Conflict, phase: "asked-again" | "reported-asked", now: number): void {
  startRound(conflict, phase, now);
  for (const contender of [...conflict.rivals, conflict.owner]) ask(state, conflict, contender, now);
}

/** What tells one device with two MACs, and who answers for everything, from a duplicate. */
function askFurther(state: State, conflict: Conflict, now: number): void {
  const { deps, expected } = state;
  const { binding, owner, rivals } = conflict;
  askDecoys(state, conflict, now);
  for (const rival of rivals) {
    const own = deps.table.ownedBy(rival.mac)?.sample;
    if (!own || own.mac !== rival.mac || own === binding || own.key.length !== binding.key.length || deps.isOwn(binding)) continue;
    if (expected.size >= MAX_CONFLICTS) expected.clear();
    expected.set(expectationOf(owner.mac, own), false);
    deps.ask(own, macBytes(owner.mac));
  }
}

function askDecoys({ deps }: State, { binding, rivals }: Conflict, now: number): void {
  for (const rival of rivals) if (deps.askDecoy(binding, rival.source)) rival.decoyAt = Math.min(rival.decoyAt, now);
}

function look(state: State, conflict: Conflict, now: number): void {
  conflict.claimedAt = Number.POSITIVE_INFINITY;
  const knowledge: Knowledge = {
    ...state.deps, expected: state.expected, wasRejected(binding, mac, at) {
      const rejected = state.rejected.get(binding);
      return rejected?.mac === mac && at - rejected.at < REJECTED_MS;
    },
  };
  const verdicts = conflict.rivals.map((rival) => {
    const verdict = judgeRival(knowledge, conflict, rival, now);
    return { rival, verdict: verdict === "duplicate" ? blameDuplicate(state.conflicts, conflict, rival) : verdict };
  });
  for (const { rival, verdict } of verdicts) {
    if (verdict === "again" || verdict === "watch" || verdict === "keep") continue;
    if (verdict === "duplicate") {
      startRound(conflict, "reported", now);
      conflict.quietRounds = 0;
    } else drop(state, conflict);
    state.deps.decide({ conflict, rival, verdict }, now);
    return;
  }
  if (verdicts.some(({ verdict }) => verdict === "again")) {
    startRound(conflict, "both-answered", now);
    askFurther(state, conflict, now);
  } else if (verdicts.some(({ verdict }) => verdict === "watch")) {
    if (conflict.phase !== "watched") startRound(conflict, "watched", now);
  } else drop(state, conflict);
}

function lookAtReported(state: State, conflict: Conflict, now: number): void {
  const { deps } = state;
  const rival = conflict.rivals.find(({ answers }) => answers > 0) ?? conflict.rivals[0];
  if (!rival) return;
  const both = rival.answers > 0 && (conflict.owner.answers > 0 || deps.isOwn(conflict.binding));
  conflict.quietRounds = both ? 0 : conflict.quietRounds + 1;
  startRound(conflict, "reported", now);
  if (both) deps.decide({ conflict, rival, verdict: "duplicate" }, now);
  else if (conflict.quietRounds >= QUIET_ROUNDS) {
    drop(state, conflict);
    deps.decide({ conflict, rival, verdict: "duplicate-over" }, now);
  }
}

function move(state: State, conflict: Conflict, now: number): void {
  if (now < dueAtOf(conflict, state.deps.quietMs())) return;
  switch (conflict.phase) {
    case "waiting":
      if (!begin(state, conflict, now) && now >= watchedUntil(conflict)) drop(state, conflict);
      break;
    case "rivals-asked":
      startRound(conflict, "owner-asked", now);
      ask(state, conflict, conflict.owner, now);
      break;
    case "both-answered":
      askAll(state, conflict, "asked-again", now);
      askDecoys(state, conflict, now);
      break;
    case "owner-asked":
    case "asked-again":
      look(state, conflict, now);
      break;
    case "watched":
      if (now >= watchedUntil(conflict)) giveUp(state, conflict, now);
      else look(state, conflict, now);
      break;
    case "reported":
      askAll(state, conflict, "reported-asked", now);
      break;
    case "reported-asked":
      lookAtReported(state, conflict, now);
  }
}

/** Nothing more came: who claimed last, while the owner neither claimed nor answered, has taken its place. */
function giveUp(state: State, conflict: Conflict, now: number): void {
  const { binding, owner, rivals } = conflict;
  const rival = rivals.find(({ mac }) => mac === conflict.lastClaimer);
  const [liar] = rivals;
  drop(state, conflict);
  if (liar && owner.answers > 0 && binding.isTrusted && state.deps.rankOf(binding) > 0) reject(state, binding, liar.mac, now);
  if (rival && conflict.owner.answers === 0 && conflict.changes === 0) state.deps.decide({ conflict, rival, verdict: "moved" }, now);
}

function reject({ rejected }: State, binding: Binding, mac: number, at: number): void {
  const [oldest] = rejected.keys();
  if (rejected.size >= MAX_REJECTED && !rejected.has(binding) && oldest) rejected.delete(oldest);
  rejected.set(binding, { mac, at });
}
