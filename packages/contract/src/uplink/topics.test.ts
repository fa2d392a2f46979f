import { expect, test } from "vitest";
import { formatEnrollmentToken, parseEnrollmentToken } from "./enrollment-token.ts";
import { parseProbeTopic, PROBE_CHANNELS, type ProbeChannel, probeTopic } from "./topics.ts";

test.each(Object.keys(PROBE_CHANNELS) as ProbeChannel[])("the topic of channel %s is read back", (channel) => {
  expect(parseProbeTopic(probeTopic("t-1", "p-1", channel))).toEqual({ tenantId: "t-1", probeId: "p-1", channel });
});

test.each([
  "lanthorn/v1/t/p/other", "lanthorn/v2/t/p/events", "lanthorn/v1/t/p", "lanthorn/v1/t/p/events/x", "lanthorn/v1/+/p/events", "",
  "lanthorn/v1/t/p/constructor",
])(
  "%j is no probe's topic",
  (topic) => {
    expect(parseProbeTopic(topic)).toBeNull();
  },
);

test.each(["a/b", "+", "#", "", "a b"])("an identity %j cannot be part of a topic", (identity) => {
  expect(() => probeTopic("tenant", identity, "events")).toThrow(RangeError);
});

test("an enrollment token is read back in its two parts", () => {
  const parts = { secret: "s".repeat(43), caPin: "p".repeat(43) };
  expect(parseEnrollmentToken(` ${formatEnrollmentToken(parts)}\n`)).toEqual(parts);
});

test.each([
  "", "lt1.short.short", `lt2.${"s".repeat(43)}.${"p".repeat(43)}`, `lt1.${"s".repeat(43)}`,
])("%j is no enrollment token", (text) => {
  expect(parseEnrollmentToken(text)).toBeNull();
});
