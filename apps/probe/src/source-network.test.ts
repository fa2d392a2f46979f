import { expect, test } from "vitest";
import { sourceNetwork } from "./source-network.ts";

test.each([
  ["192.0.2.9", "192.0.2.9"], ["2001:db8:1:2:3::9", "2001:db8:1:2"], ["2001:db8:1:2::9", "2001:db8:1:2"], ["2001:db8::9", "2001:db8:0:0"], ["2001:db8:0:1::", "2001:db8:0:1"], ["2001:db8::1:0:0:1", "2001:db8:0:0"],
  ["2001:db8:0:0:1::", "2001:db8:0:0"], ["::1", "0:0:0:0"], ["::ffff:192.0.2.9", "192.0.2.9"], ["fe80::9%eth0", "fe80::9"], ["fe80::9", "fe80::9"], ["nonsense", "nonsense"], ["a:b", "a:b"],
])("%s is counted as %s", (address, network) => {
  expect(sourceNetwork(address)).toBe(network);
});
