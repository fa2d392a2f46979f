export { createPatternSet, type Pattern, type PatternSet } from "./patterns/pattern-set.ts";
export type { AddressSet } from "./rules/address-set.ts";
export { BUFFER_FACTS, type BufferFacts, type BufferName } from "./rules/buffer-names.ts";
export type * from "./rules/buffer-match.ts";
export type * from "./rules/condition.ts";
export type { PortSet } from "./rules/port-set.ts";
export type * from "./rules/rule.ts";
export type * from "./rules/state-condition.ts";
export type { PcreFlags, Transform } from "./rules/transform.ts";
