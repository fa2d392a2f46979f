import { expect, test } from "vitest";
import { similarity, type Traits } from "./similarity.ts";

const nothing: Traits = { hostname: "", vendor: "", ips: [], macs: [], keys: [] };
const score = (a: Partial<Traits>, b: Partial<Traits>) => similarity({ ...nothing, ...a }, { ...nothing, ...b });

test("what two devices have in common scores, and more of it scores higher", () => {
  expect(score({}, {})).toEqual({ score: 0, reasons: [] });
  expect(score({ hostname: "NAS.home.arpa" }, { hostname: "nas" }))
    .toEqual({ score: 0.4, reasons: [{ trait: "hostname", value: "NAS.home.arpa" }] });
  expect(score({ hostname: "nas", ips: ["10.0.0.1"] }, { hostname: "nas", ips: ["10.0.0.2", "10.0.0.1"] }).score).toBe(0.64);
  expect(score({ macs: ["da:a1:19:00:00:01"], vendor: "Apple" }, { macs: ["da:a1:19:00:00:02"], vendor: "Apple" }).score).toBe(0.19);
  expect(score({ keys: ["dhcp_duid 1"] }, { keys: ["dhcp_duid 1"] }))
    .toEqual({ score: 0.9, reasons: [{ trait: "key", value: "dhcp_duid 1" }] });
});

test("a name that nobody gave, a MAC of its own and a vendor that is not known say nothing", () => {
  expect(score({ hostname: "localhost" }, { hostname: "localhost" }).score).toBe(0);
  expect(score({ macs: ["00:1b:21:00:00:01"] }, { macs: ["da:a1:19:00:00:02"] }).score).toBe(0);
});

test("however much is weak, it is never sure", () => {
  const all: Partial<Traits> = { hostname: "nas", vendor: "x", ips: ["10.0.0.1", "10.0.0.2", "10.0.0.3"], macs: ["da:a1:19:00:00:01"] };
  expect(score(all, all).score).toBeLessThan(0.9);
});
