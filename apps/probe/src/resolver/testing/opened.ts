import { DNS_TYPE, dnsEdns, type DnsMessage, type DnsRecordFields } from "@lanthorn/packets";
import { silentLog, systemClock } from "@lanthorn/runtime";
import { openResolver, type OpenResolver } from "../open-resolver.ts";
import { parseResolverSettings } from "../settings.ts";
import { type FakeServer, startFakeServer } from "./fake-server.ts";

/** A name that any server of a test may know. */
export const NAME = "www.example.com";
/** For its address. */
export const question = { name: NAME, type: DNS_TYPE.a };

/** @returns A record that says 192.0.2.`last`. */
export function address(last: number, ttlSeconds = 300, name = NAME): DnsRecordFields {
  return { name, type: DNS_TYPE.a, ttlSeconds, data: { kind: "address", address: Uint8Array.of(192, 0, 2, last) } };
}

/** @returns An OPT record. */
export function edns(options: readonly { readonly code: number; readonly value: Uint8Array }[] = [], udpPayloadSize = 1232): DnsRecordFields {
  return { name: ".", type: DNS_TYPE.opt, class: udpPayloadSize, ttlSeconds: 0, data: { kind: "opt", options } };
}

/** @returns The last byte of each address. */
export function lastOf(message: DnsMessage): readonly (number | null | undefined)[] {
  return message.answers.map(({ data }) => (data.kind === "address" ? data.address.at(-1) : null));
}

/** @returns Its code and text, or null without one. */
export function extendedError(message: DnsMessage): { readonly code: number; readonly text: string } | null {
  const value = dnsEdns(message)?.options.find(({ code }) => code === 15)?.value;
  return value === undefined ? null : { code: ((value[0] as number) << 8) | (value[1] as number), text: Buffer.from(value.subarray(2)).toString() };
}

/** What a test opened, and has to close. */
export interface Opened {
  server(answer: Parameters<typeof startFakeServer>[0]): Promise<FakeServer>;
  /** A resolver on loopback over servers there. `port` is that of its TCP and UDP. */
  resolverOver(servers: readonly { readonly port: number }[], more?: Record<string, unknown>, clock?: typeof systemClock): Promise<OpenResolver & { readonly port: number }>;
  close(): Promise<void>;
}

/** @returns Nothing open yet. */
export function createOpened(): Opened {
  const ends: (() => Promise<void>)[] = [];
  return {
    async server(answer) {
      const started = await startFakeServer(answer);
      ends.push(() => started.close());
      return started;
    },
    async resolverOver(servers, more = {}, clock = systemClock) {
      const settings = parseResolverSettings({
        listen: ["127.0.0.1"], port: 0, upstreams: servers.map(({ port }) => ({ address: "127.0.0.1", port })), ...more,
      });
      const opened = await openResolver(settings, { udp: [], tcp: [] }, { clock, log: silentLog });
      ends.push(() => opened.close());
      return { ...opened, port: opened.listeners[0]?.port as number };
    },
    async close() {
      for (const end of ends.splice(0).toReversed()) await end();
    },
  };
}
