/** What the records of a transfer say, as they come. @see RFC 5936 section 2.2, RFC 1995 section 4 */
import { DNS_TYPE, type DnsRecord } from "@lanthorn/packets";
import { TransferFault } from "./transfer-fault.ts";
import { recordLine } from "./zone-records.ts";

/** Takes the records of one transfer. */
export interface TransferReader {
  /** @returns Whether that was the last one. @throws TransferFault for what is no transfer, and where it grows too large. */
  push(record: DnsRecord): boolean;
  /** Whether there is nothing that is newer. */
  readonly isSame: boolean;
  readonly serial: number;
  /** The zone's lines. @throws TransferFault where the transfer is not whole. */
  lines(): Iterable<string>;
}

/** A zone that is here. */
export interface KnownZone {
  readonly serial: number;
  readonly lines: Iterable<string>;
}

/** What is there to be changed differs from what the server thinks: the whole zone is to be asked for. */
export class ChangesDoNotFit extends Error {}

type State = "begin" | "second" | "whole" | "removing" | "adding" | "end";

/**
 * @param known The zone that changes may be for; null where the whole zone was asked for.
 * @param maxBytes Of all lines.
 */
export function createTransferReader(known: KnownZone | null, maxBytes: number): TransferReader {
  const zone = createZoneLines(maxBytes);
  const { take, add, remove } = zone;
  let serial = 0;
  let state: State = "begin";
  let first: DnsRecord | null = null;
  /** An SOA begins what is removed, then what is added, and by turns on until the newest. */
  const onSoa = (record: DnsRecord, own: number): boolean => {
    if (state === "whole" || (state === "adding" && own === serial)) {
      state = "end";
      if (zone.lines().size === 0) throw new TransferFault("it has no records");
      return true;
    }
    if (state === "removing") {
      add(record);
      state = "adding";
    } else {
      remove(record);
      state = "removing";
    }
    return false;
  };
  const begin = (record: DnsRecord, own: number | null): boolean => {
    if (own === null) throw new TransferFault("its server's answer does not begin with the zone's SOA");
    serial = own;
    first = record;
    state = known?.serial === own ? "end" : "second";
    if (known === null) add(record);
    else if (state === "end") take(known.lines);
    return state === "end";
  };
  const second = (record: DnsRecord, own: number | null): boolean => {
    if (known !== null && own === known.serial) {
      take(known.lines);
      return onSoa(record, own);
    }
    // The server sends the whole zone, whatever was asked.
    state = "whole";
    if (known !== null && first) add(first);
    if (own !== null) return onSoa(record, own);
    add(record);
    return false;
  };
  return {
    get isSame() {
      return known !== null && state === "end" && known.serial === serial;
    },
    get serial() {
      return serial;
    },
    push(record) {
      const own = record.type === DNS_TYPE.soa && record.data.kind === "soa" ? record.data.serial : null;
      if (state === "begin") return begin(record, own);
      if (state === "second") return second(record, own);
      if (own !== null) return onSoa(record, own);
      if (state === "removing") remove(record);
      else add(record);
      return false;
    },
    lines() {
      if (state !== "end") throw new TransferFault("its server stopped before the end of the zone");
      return zone.lines();
    },
  };
}

/** A zone's records as lines, in the order in which they came. */
function createZoneLines(maxBytes: number) {
  let lines = new Set<string>();
  let bytes = 0;
  return {
    lines: () => lines,
    /** All of another version. */
    take(known: Iterable<string>): void {
      lines = new Set(known);
      for (const line of lines) bytes += line.length + 1;
    },
    add(record: DnsRecord): void {
      const line = recordLine(record);
      if (line === null || lines.has(line)) return;
      bytes += line.length + 1;
      if (bytes > maxBytes) throw new TransferFault(`it has more than ${maxBytes / 1e6} MB`);
      lines.add(line);
    },
    remove(record: DnsRecord): void {
      const line = recordLine(record);
      if (line === null) return;
      if (!lines.delete(line)) throw new ChangesDoNotFit("a record that was removed is not there");
      bytes -= line.length + 1;
    },
  };
}
