/** The line printer daemon of RFC 1179, which is known by its number alone. */
export const LPD = 515;

/** Printers print whatever reaches these: nothing is ever sent to them. */
export const PRINT_PORTS: ReadonlySet<number> = new Set([LPD, ...Array.from({ length: 8 }, (_, index) => 9100 + index)]);
