import { createFakeClock } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { createAdmissionQueue } from "./admission-queue.ts";

/** Newcomers number themselves: the first has MAC 1 and the address 10.0.0.1. */
function createDoor() {
  const clock = createFakeClock();
  const entered: number[] = [];
  const addresses: string[] = [];
  const admissionQueue = createAdmissionQueue({
    clock,
    enter(mac, address) {
      entered.push(mac);
      addresses.push(address.join("."));
    },
  });
  let arrived = 0;
  const arrive = (count: number): number => {
    let turns = 0;
    for (let index = 0; index < count; index += 1) {
      arrived += 1;
      if (admissionQueue.takeTurn()) turns += 1;
      else admissionQueue.wait(arrived, 0x0a_00_00_00 + arrived);
    }
    return turns;
  };
  return { clock, admissionQueue, entered, addresses, arrive };
}

describe("newcomers", () => {
  test("are admitted at once while no more come than can be published", async () => {
    const { clock, arrive, entered } = createDoor();
    for (let round = 0; round < 20; round += 1) {
      expect(arrive(500)).toBe(500);
      await clock.advance(50);
    }
    expect(entered).toEqual([]);
  });

  test("of a burst wait until it is over, and then enter 500 at a time, in their order and each with its address", async () => {
    const { clock, arrive, entered, addresses } = createDoor();
    let turns = 0;
    for (let round = 0; round < 10; round += 1) {
      turns += arrive(1000);
      await clock.advance(50);
    }
    expect(turns).toBe(500);
    expect(entered).toEqual([]);
    await clock.advance(50);
    expect(entered).toEqual(Array.from({ length: 500 }, (_, index) => 501 + index));
    await clock.advance(50 * 18);
    expect(entered).toEqual(Array.from({ length: 9500 }, (_, index) => 501 + index));
    expect(addresses[0]).toBe("10.0.1.245");
  });

  test("do not overtake who waits, and do not keep them waiting", async () => {
    const { clock, arrive, entered } = createDoor();
    arrive(2000);
    await clock.advance(100);
    expect(entered).toHaveLength(500);
    expect(arrive(400)).toBe(0);
    await clock.advance(50);
    expect(entered).toHaveLength(1000);
    await clock.advance(150);
    expect(entered).toHaveLength(1900);
    expect(entered.at(-1)).toBe(2400);
    await clock.advance(50);
    expect(arrive(500)).toBe(500);
  });

  test("of a burst without end wait three seconds, and no more than a /16 of them", async () => {
    const { clock, arrive, entered } = createDoor();
    expect(arrive(1500)).toBe(500);
    for (let round = 1; round < 60; round += 1) {
      await clock.advance(50);
      expect(entered).toEqual([]);
      arrive(1000);
    }
    await clock.advance(100);
    expect(entered).toHaveLength(1000);
    const waiting = 1500 + 59 * 1000 - 500 - 1000;
    expect(arrive(65_536 - waiting)).toBe(0);
    expect(arrive(100)).toBe(100);
  });

  test("enter all together when that is wished, and then nothing is left to do", async () => {
    const { clock, admissionQueue, arrive, entered } = createDoor();
    arrive(5000);
    admissionQueue.enterAll();
    expect(entered).toHaveLength(4500);
    await clock.advance(10_000);
    expect(entered).toHaveLength(4500);
    expect(arrive(500)).toBe(500);
  });
});
