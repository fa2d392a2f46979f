/** Which MAC an address belongs to, and which others it belonged to. */
export interface Binding {
  readonly hash: number;
  /** The address, one character a byte. */
  readonly key: string;
  /** 0 without a tag. */
  readonly vlanId: number;
  /** Of the owner. */
  mac: number;
  /** When its owner claimed it first, monotonic milliseconds. */
  firstAt: number;
  /** When its owner claimed it last, monotonic milliseconds; of an earlier run the start. */
  seenAt: number;
  /** It was claimed for a while, or the owner alone answered; such a binding gives way to no newcomer. */
  isTrusted: boolean;
  /** Its owner did nothing but claim it by replies or advertisements that nobody had asked for. */
  isHearsay: boolean;
  /** MACs that took the address over while the one before was silent, or belong to the owner's device. */
  members: readonly number[];
  /** When it was seen last that the members are one device, monotonic milliseconds. */
  sharedAt: number;
  /** Who answered as one device with the owner then, a member or not; -1 for nobody. */
  sharedWith: number;
  /** What is being found out about it. */
  conflict: Conflict | null;
  /** When the claims went from one MAC to another, monotonic milliseconds, the last few. */
  changes: number[];
  /** When everybody was asked last who has it, monotonic milliseconds. */
  askedAt: number;
  /** When somebody else asked everybody last, monotonic milliseconds. */
  othersAskedAt: number;
  next: Binding | null;
}

/** One of the MACs that an address is claimed for. */
export interface Contender {
  readonly mac: number;
  /** The MAC that its frames come from. */
  source: number;
  unsolicited: number;
  /** Answers to our probes in this round. */
  answers: number;
  /** When it was asked in this round, monotonic milliseconds; infinity before. */
  askedAt: number;
  answeredAt: number;
  /** When it answered last, monotonic milliseconds; minus infinity before. */
  lastAnswerAt: number;
  /** When it was asked first for an address that nobody has, monotonic milliseconds; infinity before. */
  decoyAt: number;
  /** Claims well after somebody else has answered. */
  claimsAfterAnswer: number;
  /** The latest frame, copied. */
  packet: Uint8Array | null;
}

/**
 * Where a check stands. First the rivals are asked, then the owner, then, a while after both have answered, all again; afterwards claims are watched, and of a conflict that
 * was reported all are asked now and then.
 */
export type Phase = "waiting" | "rivals-asked" | "owner-asked" | "both-answered" | "asked-again" | "watched" | "reported" | "reported-asked";

/** What is found out about an address that somebody else claims. */
export interface Conflict {
  readonly binding: Binding;
  readonly owner: Contender;
  /** At most `MAX_RIVALS`. */
  readonly rivals: Contender[];
  readonly openedAt: number;
  phase: Phase;
  phaseAt: number;
  /** When the first claim since the last look came, monotonic milliseconds; infinity where none did. */
  claimedAt: number;
  lastClaimer: number;
  /** How often the claims went from one to another. */
  changes: number;
  /** One of them has answered for the MAC of the other. */
  answeredForOther: boolean;
  /** When both first answered. */
  bothAt: number;
  /** Rounds in which one of them was silent, of a conflict that was reported. */
  quietRounds: number;
}
