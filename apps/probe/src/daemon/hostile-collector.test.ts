import type { Reply } from "@lanthorn/contract/uplink";
import { createId, silentLog, toInstant, watchLoop } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFakeLan, type FakeLan } from "../discover/testing/fake-lan.ts";
import { createCommands } from "../uplink/commands.ts";
import { createGuardScene } from "../detect/testing/guard-scene.ts";
import { commandHandlers } from "./command-handlers.ts";

/** Of processor time: a machine with other work keeps everybody waiting. */
const HANG_MS = 500;
/** The contract's limits. */
const MAX_EXCLUDED = 4096;
const MAX_TEXT = 64;

let lan: FakeLan;
beforeEach(() => {
  lan = createFakeLan({ addresses: ["10.0.0.2/16", "fe80::2/64"] });
  lan.start();
});
afterEach(() => lan.close());

const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const command = (type: string, data: object) => encode({
  v: 1, id: createId(), type, issued_at: toInstant(lan.clock.now()), expires_at: toInstant(lan.clock.now() + 60_000), data,
});
const scan = (target: string, excluded: readonly string[], profile = "standard") =>
  command("scan_start", { scan_id: createId(), target, profile, excluded });
const many = (make: (number: number) => string, count = MAX_EXCLUDED) => Array.from({ length: count }, (_, number) => make(number));
const hosts = many((number) => `10.0.${number >>> 8}.${number & 255}`);
const hosts6 = many((number) => `fd00:0000:0000:0000:0000:0000:0000:${number.toString(16).padStart(4, "0")}/128`);
const nested = many((number) => `10.0.0.0/${number % 33}`);
const long = "1".repeat(MAX_TEXT);

const PAYLOADS: Readonly<Record<string, { readonly payload: () => Uint8Array; readonly expected: string | null }>> = {
  "as many excluded hosts as there may be": { payload: () => scan("10.0.0.0/16", hosts), expected: null },
  "as many of IPv6": { payload: () => scan("10.0.0.0/16", hosts6), expected: null },
  "prefixes in prefixes": { payload: () => scan("10.0.0.0/16", nested), expected: null },
  "one excluded host more": { payload: () => scan("10.0.0.0/16", [...hosts, "10.9.9.9"]), expected: "not-a-command" },
  "brackets in a text": { payload: () => scan("10.0.0.0/16", [`"\\${"[".repeat(60)}`]), expected: "refused" },
  "excluded texts that are no addresses": { payload: () => scan("10.0.0.0/16", many(() => long)), expected: "refused" },
  "the whole of IPv4": { payload: () => scan("0.0.0.0/0", hosts), expected: "refused" },
  "the whole of IPv6": { payload: () => scan("::/0", hosts6), expected: "refused" },
  "a target of digits": { payload: () => scan(long, []), expected: "refused" },
  "a target that is too long": { payload: () => scan(`${long}1`, []), expected: "not-a-command" },
  "more than is looked at": { payload: () => scan("10.0.0.0/16", many(() => long, 20_000)), expected: "not-a-command" },
  "lists in lists": { payload: () => new TextEncoder().encode("[".repeat(500_000) + "]".repeat(500_000)), expected: "not-a-command" },
  "a hundred thousand fields": {
    payload: () => command("scan_start", Object.fromEntries(many((number) => `${number}`, 60_000).map((key) => [key, 1]))),
    expected: "not-a-command",
  },
};

test.each(Object.keys(PAYLOADS))("a command with %s is answered, and does not hold up the probe", async (name) => {
  const { payload, expected } = PAYLOADS[name] as (typeof PAYLOADS)[string];
  const bytes = payload();
  const replies: Reply[] = [];
  const commands = createCommands({
    handlers: commandHandlers({
      discovery: lan.discovery, guards: createGuardScene().guards, interfaceRead: Promise.resolve(),
    }), collectorNow: () => lan.clock.now(),
    reply: (reply) => replies.push(reply), log: silentLog,
  });
  const stop = watchLoop();
  commands.onMessage(bytes);
  await lan.clock.advance(3000);
  expect(replies.map(({ error }) => error?.code ?? null)).toEqual([expected]);
  expect(stop()).toBeLessThan(HANG_MS);
});
