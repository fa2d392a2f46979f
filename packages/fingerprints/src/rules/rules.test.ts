import { describe, expect, test } from "vitest";
import { ANSWER_RULES, readAnswer } from "./answers.ts";
import { BUILD_RULES } from "./builds.ts";
import { combineClaims } from "./claim.ts";
import { PLATFORM_RULES } from "./http-server.ts";
import { applyRules, type Rule } from "./rule.ts";

const TABLES: readonly (readonly [string, readonly Rule[]])[] = [...Object.entries(ANSWER_RULES), ["platform", PLATFORM_RULES], ["build", BUILD_RULES]];

describe("the rules", () => {
  test.each(TABLES)("of %s say of each example exactly what stands beside it", (_, rules) => {
    for (const rule of rules) {
      expect(rule.examples.length).toBeGreaterThan(0);
      for (const [text, says] of rule.examples) expect({ text, says: applyRules(rules, text) }).toEqual({ text, says });
    }
  });

  test("are quick with texts that are made to be slow", () => {
    const texts = [
      "a ".repeat(2048), "1.".repeat(2048), "Linux a 1.1.1 ".repeat(300), "Cisco IOS Software, ".repeat(200),
      "\t\n".repeat(2048), "smart a a a ".repeat(340),
    ];
    const before = process.cpuUsage();
    for (const [, rules] of TABLES) for (const text of texts) applyRules(rules, text);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(1000);
  });

  test("let a daemon's answer name its system beside itself", () => {
    expect(readAnswer("ssh", "OpenSSH_9.2p1 Debian-2+deb12u3").map((claim) => [claim.field, claim.value])).toEqual([
      ["product", "OpenSSH"], ["vendor", "OpenBSD"], ["version", "9.2p1"], ["cpe", "cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*"],
      ["distribution", "Debian"], ["package_version", "1:9.2p1-2+deb12u3"], ["os", "Debian"], ["os_version", "12"], ["os_cpe", "cpe:2.3:o:debian:debian_linux:12:*:*:*:*:*:*:*"],
    ]);
    expect(readAnswer("ftp", "who knows")).toEqual([]);
  });
});

describe("claims", () => {
  test("strengthen each other when different sources agree, and weaken the winner when one contradicts", () => {
    const says = (value: string, source: string, confidence: number) => ({ field: "device_type" as const, value, source, confidence });
    expect(combineClaims([says("printer", "mdns", 0.8), says("Printer", "snmp-object", 0.9)]).device_type)
      .toEqual({ field: "device_type", value: "Printer", source: "snmp-object", confidence: 0.98, sources: ["snmp-object", "mdns"] });
    // One source counts once.
    expect(combineClaims([says("printer", "mdns", 0.8), says("printer", "mdns", 0.6)]).device_type?.confidence).toBe(0.8);
    const contested = combineClaims([says("printer", "mdns", 0.8), says("server", "ports", 0.4)]).device_type;
    expect(contested).toMatchObject({ value: "printer", confidence: 0.64 });
    expect(combineClaims([says("", "mdns", 0.8)])).toEqual({});
  });
});
