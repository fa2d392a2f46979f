import { expect, test } from "vitest";
import { ipv4Text, macText } from "./address-text.ts";

test("texts of addresses are right, however many share a place", () => {
  expect([ipv4Text(0), ipv4Text(0xc000_0207 | 0), ipv4Text(0xffff_ffff | 0)]).toEqual(["0.0.0.0", "192.0.2.7", "255.255.255.255"]);
  expect([macText(0, 0), macText(0x02_0a_ff, 0x01_00_0f)]).toEqual(["00:00:00:00:00:00", "02:0a:ff:01:00:0f"]);
  for (let round = 0; round < 2; round += 1) {
    for (let at = 0; at < 20_000; at += 1) {
      const [high, middle, low] = [(at >>> 16) & 0xff, (at >>> 8) & 0xff, at & 0xff];
      if (ipv4Text((10 << 24) | at) !== `10.${high}.${middle}.${low}`) expect.fail(`wrong text of ${at}`);
      if (Number.parseInt(macText(at, at + 1).replaceAll(":", ""), 16) !== at * 0x100_0000 + at + 1) expect.fail(`wrong address of ${at}`);
    }
  }
  expect(ipv4Text(0xc000_0207 | 0)).toBe("192.0.2.7");
});
