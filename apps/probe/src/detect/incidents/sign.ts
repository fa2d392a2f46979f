import type { GuardKind, Severity } from "@lanthorn/contract/uplink";

/** What a guard has seen once. Signs of one kind about one subject are one incident. */
export interface Sign {
  readonly kind: GuardKind;
  /** Who or what it is about, among the incidents of its kind: the attacker's MAC address, or the address that is fought for. */
  readonly subject: string;
  /**
   * Nothing but this sign shows that its subject exists: whoever forges senders takes another one each time. Such signs of one kind are one
   * incident, whatever their subjects.
   */
  readonly mayBeForged?: boolean;
  readonly severity: Severity;
  /** Empty for none. */
  readonly ip: string;
  /** Empty for none. */
  readonly mac: string;
  readonly expectedMacs?: readonly string[];
  readonly vlanId?: number | null;
  /** What was seen, why that is wrong, and what to do: sentences for the operator. */
  readonly detail: string;
  /** What else was seen, by name: at most 32, 512 characters each. */
  readonly facts?: Readonly<Record<string, string>>;
  /** The frame that shows it. It is copied. */
  readonly packet: Uint8Array | null;
}
