import { createFakeClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { readCaller, signCaller } from "./identity.ts";

test("a service gets a probe's key, which identifies a superseded certificate", async () => {
  const [clock, secret] = [createFakeClock(), new TextEncoder().encode("what the gateway and a service share")];
  const peer = { address: "192.0.2.1", probeId: "probe", probePublicKey: "the key" };
  const header = await signCaller({ identity: null, peer: { ...peer, secure: true }, requestId: "1" }, { service: "agents", secret, clock });
  expect(await readCaller(header ?? "", { secret, clock })).toEqual({ identity: null, peer });
});
