import type { PcapBytes, PcapBytesOptions } from "@lanthorn/client";
import { type Command, InvalidArgumentError, Option } from "commander";
import {
  exportPcap, listPcaps, lockPcap, type PcapListOptions, type PcapPlace, pcapSettings, removePcap, showPcap, startPcap, stopPcap,
} from "../commands/pcap.ts";
import { getPcap, type PcapGetDependencies } from "../commands/pcap-get.ts";
import { type PcapWatchOptions, watchPackets } from "../commands/pcap-watch.ts";
import type { Connection } from "../connection.ts";
import { parseMoment } from "../options/moment.ts";
import type { GroupDependencies } from "./group.ts";

const SITE = ["--site <site>", "the site's name or id; may be left out where there is only one"] as const;
const PROBE = ["--probe <probe>", "a probe by its id, in place of a site"] as const;
const REASON = ["--reason <text>", "why you read the packets, for the audit log; the site may demand it"] as const;
const INTERFACE = ["--interface <name>", "one of the interfaces that the probe records; all if left out"] as const;

/** What the group needs beside what all groups do. */
interface PcapGroupDependencies extends GroupDependencies {
  readonly print: (line: string) => void;
  readonly note: (line: string) => void;
  readonly stopped: () => Promise<unknown>;
  readonly open: () => Promise<Connection>;
  /** Reads bytes of a capture over a connection. */
  readonly readBytes: (connection: Connection, id: string, options: PcapBytesOptions) => Promise<PcapBytes>;
  readonly output: PcapGetDependencies["output"];
}

const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError("it must be a whole number.");
  return value;
};

/** A number of bytes: `64M`, `1G`, `500k`, `1048576`. */
const size = (text: string): number => {
  const [, amount, unit = ""] = /^(\d{1,12})([kMG]?)$/.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError("it must be a size as 500k, 64M or 1G.");
  return Number(amount) * { "": 1, k: 1024, M: 1024 ** 2, G: 1024 ** 3 }[unit as "" | "k" | "M" | "G"];
};

interface StartOptions extends PcapPlace {
  readonly interface?: string;
  readonly seconds: number;
  readonly packets: number;
  readonly bytes: number;
  readonly snapLength: number;
  readonly headersOnly: boolean;
}

interface ExportOptions extends PcapPlace {
  readonly from: string;
  readonly to?: string;
  readonly host?: string;
  readonly peer?: string;
  readonly side: "both" | "source" | "destination";
  readonly bytes: number;
}

/** `pcap …`. */
export function addPcapCommands(program: Command, deps: PcapGroupDependencies): void {
  const pcap = program.command("pcap").description("captures of packets: evidence of alerts, captures that you start, and packets as they pass");
  addMaking(pcap, deps);
  addReading(pcap, deps);
  addKeeping(pcap, deps);
}

function addMaking(pcap: Command, { answering, clock }: PcapGroupDependencies): void {
  answering(
    pcap.command("start [filter]").description("have a probe capture packets; the filter is as tcpdump's").option(...SITE).option(...PROBE).option(...INTERFACE)
      .option("--seconds <count>", "end after so many seconds", count, 60).option("--packets <count>", "end after so many packets", count, 100_000)
      .option("--bytes <size>", "end when the file is so large", size, 64 * 1024 ** 2).option("--snap-length <bytes>", "keep so much of each packet", count, 262_144)
      .option("--headers-only", "leave payload out", false)
      .addHelpText("after", `
Examples:
  lanthorn pcap start 'host 10.0.0.7' --site "Store 12" --seconds 120
  lanthorn pcap start 'tcp port 443 and net 10.0.8.0/24' --headers-only --bytes 200M`),
    (connection, filter: string | undefined, { site, probe, interface: name, seconds, packets, bytes, snapLength, headersOnly }: StartOptions) =>
      startPcap(connection, { ...(site !== undefined && { site }), ...(probe !== undefined && { probe }) }, {
        filter: filter ?? "", interface: name ?? null, seconds, packets, bytes, snap_length: snapLength, headers_only: headersOnly,
      }),
  );
  answering(pcap.command("stop <id>").description("end a capture; what it has becomes a file"), (connection, id: string) => stopPcap(connection, id));
  answering(
    pcap.command("export [filter]").description("cut a file from what a probe records continuously").option(...SITE).option(...PROBE)
      .requiredOption("--from <when>", "the beginning: 2h (ago) or 2026-11-20T08:00:00Z").option("--to <when>", "the end; now if left out")
      .option("--host <address>", "only packets from or to this IP or MAC address").option("--peer <address>", "only those between the host and this address")
      .addOption(new Option("--side <side>", "source: what the host sent; destination: what was sent to it").choices(["both", "source", "destination"]).default("both"))
      .option("--bytes <size>", "end when the file is so large", size, 256 * 1024 ** 2)
      .addHelpText("after", `
Examples:
  lanthorn pcap export --from 2h --to 1h --host 10.0.0.7 --peer 10.0.0.1
  lanthorn pcap export 'udp port 53' --from 2026-11-20T08:00:00Z --to 2026-11-20T08:30:00Z`),
    (connection, filter: string | undefined, { site, probe, from, to, host, peer, side, bytes }: ExportOptions) =>
      exportPcap(connection, { ...(site !== undefined && { site }), ...(probe !== undefined && { probe }) }, {
        filter: filter ?? "", from: parseMoment(from, clock.now(), "--from"), to: to === undefined ? new Date(clock.now()).toISOString() : parseMoment(to, clock.now(), "--to"),
        host: host ?? null, peer: peer ?? null, side, bytes,
      }),
  );
}

function addReading(pcap: Command, deps: PcapGroupDependencies): void {
  const { answering } = deps;
  answering(
    pcap.command("list").description("list captures, the newest first").option("--site <site>", "of one site, by its name or id").option("--probe <probe>", "of a probe, by its id")
      .option("--device <device>", "about a device, by its name, address, MAC or id").option("--alert <id>", "evidence of an alert, by its id")
      .option("--trigger <reasons>", "alert, request or export; several with commas").option("--state <states>", "as ready or at_probe; several with commas")
      .option("--since <when>", "from then on: 24h (ago) or 2026-11-20T08:00:00Z").option("--until <when>", "before then").option("--locked", "only locked ones")
      .option("--limit <count>", "at most this many", count, 50),
    (connection, options: PcapListOptions) => listPcaps(connection, options),
  );
  answering(pcap.command("show <id>").description("show a capture and what is in it, without its packets"), (connection, id: string) => showPcap(connection, id));
  pcap.command("get <id>").description("download a capture as pcapng; an interrupted download goes on where it ended").option(...REASON)
    .option("--out <file>", "the file to write, - for the standard output; named after the capture if left out")
    .addHelpText("after", `
The file's SHA-256 is checked. A file that still lies at the probe is fetched from there first.

Examples:
  lanthorn pcap get ID --out evidence.pcapng --reason "case 2026-117"
  lanthorn pcap get ID --out - | tshark -r -`)
    .action(async (id: string, { out = `lanthorn-${id}.pcapng`, reason }: { readonly out?: string; readonly reason?: string }) => {
      const connection = await deps.open();
      const done = await getPcap(out, reason, { clock: deps.clock, note: deps.note, output: deps.output, read: (options) => deps.readBytes(connection, id, options) });
      // What is written there is the file alone.
      (out === "-" ? deps.note : deps.print)(`${out}: ${done.bytes} bytes, SHA-256 ${done.sha256}`);
    });
  pcap.command("watch [filter]").description("print packets as a probe sees them, one a line; the filter is as tcpdump's").option(...SITE).option(...PROBE).option(...INTERFACE)
    .option("--snap-length <bytes>", "decode so much of each packet", count, 256).option(...REASON).option("--json", "one JSON object a line, with the bytes in Base64", false)
    .addHelpText("after", `
It needs the scope pcap:download, and the audit log records it. What comes too fast is not shown, and it is said how many packets.

Examples:
  lanthorn pcap watch --site "Store 12" 'udp port 53'
  lanthorn pcap watch 'arp or icmp' --interface eth1`)
    .action(async (filter: string | undefined, options: PcapWatchOptions) => {
      await watchPackets(await deps.open(), filter ?? "", options, { clock: deps.clock, print: deps.print, note: deps.note, stopped: deps.stopped() });
      process.exit(0);
    });
}

function addKeeping(pcap: Command, { answering }: PcapGroupDependencies): void {
  answering(
    pcap.command("lock <id>").description("keep a capture as evidence: it is neither removed nor deleted").option("--reason <text>", "why, for who reads it later", ""),
    (connection, id: string, { reason }: { reason: string }) => lockPcap(connection, id, reason),
  );
  answering(pcap.command("unlock <id>").description("no longer keep a capture: it goes when its time is over"), (connection, id: string) => lockPcap(connection, id, null));
  answering(pcap.command("rm <id>").description("delete a capture, here and at the probe"), (connection, id: string) => removePcap(connection, id));
  answering(
    pcap.command("settings [setting...]").description("show what a site's probes record, or change it as NAME=VALUE; what is not named stays").option(...SITE)
      .addHelpText("after", `
Settings:
  evidence=on|off                  keep the packets around an alert
  upload=at_once|on_demand         send files to the collector at once, or leave them at the probe until somebody gets them
  headers_only=on|off              keep headers, and no payload
  headers_only_networks=NETWORKS   the same for packets from or to these networks, with commas
  require_reason=on|off            who gets or watches packets has to say why

Example:
  lanthorn pcap settings upload=on_demand headers_only_networks=10.0.9.0/24 require_reason=on --site "Store 12"`),
    (connection, settings: readonly string[], { site }: { site?: string }) => pcapSettings(connection, site, settings),
  );
}
