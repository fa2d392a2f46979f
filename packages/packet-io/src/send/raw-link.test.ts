import { describe, expect, test } from "vitest";
import { runInNamespace, whyNoNamespaces } from "../testing/namespace.ts";

const reason = whyNoNamespaces();
if (reason) console.warn(`packet-io raw link: ${reason}`);

describe.skipIf(reason !== null)("a raw link", () => {
  test("sends in order, keeps back what goes to excluded addresses and print ports, and says when its interface is down", async () => {
    expect(await runInNamespace("rawSending")).toEqual({
      print: false, tooLong: false, counters: { sent: 697, refused: 4 }, whileDown: "interface-down", afterClose: "send-failed",
      lowestByte9: false, inOrder: true, arrived: 697, missing: "interface-missing",
    });
  });

  test("takes the answers to one port, ARP and ICMP, nothing of its own, and counts what it had no room for", async () => {
    const result = await runInNamespace<{ read: number }>("ringTakesAnswers");
    expect(result).toMatchObject({ same: true, lost: 0, afterClose: 0 });
    expect(result.read).toBeGreaterThanOrEqual(16_000);
  });

  test("has the kernel answer nothing on its port, and not even ask for who sent it", async () => {
    expect(await runInNamespace("kernelStaysSilent")).toEqual({ asked: [60], ports: [true, true], freed: true });
  });
});
