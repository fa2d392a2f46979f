import { describe, expect, test } from "vitest";
import { createCircuit } from "../circuit.ts";
import { createSemaphore } from "./semaphore.ts";

describe("places", () => {
  test("are given in order; slow ones never take them all, and wait for each other only", async () => {
    const places = createSemaphore({ all: 3, slow: 1 });
    const order: string[] = [];
    const take = async (name: string, isSlow: boolean) => {
      const giveBack = await places.take(isSlow);
      order.push(name);
      return giveBack;
    };
    const slow = [take("slow 1", true), take("slow 2", true)];
    const fast = [take("fast 1", false), take("fast 2", false), take("fast 3", false), take("fast 4", false)];
    (await fast[0])?.();
    await fast[2];
    expect(order).toEqual(["slow 1", "fast 1", "fast 2", "fast 3"]);
    (await slow[0])?.();
    await fast[3];
    (await fast[1])?.();
    await slow[1];
    expect(order.slice(4)).toEqual(["fast 4", "slow 2"]);
  });
});

describe("a circuit", () => {
  test("opens for 30 s after five attempts without an answer, and after each further one; any answer closes it", () => {
    let now = 0;
    const circuit = createCircuit(() => now);
    for (let count = 0; count < 4; count += 1) circuit.attempted(false, 10);
    expect(circuit.waitMs()).toBe(0);
    circuit.attempted(false, 10);
    expect(circuit.waitMs()).toBe(30_000);
    now = 30_000;
    expect(circuit.waitMs()).toBe(0);
    circuit.attempted(false, 10);
    expect(circuit.waitMs()).toBe(30_000);
    circuit.attempted(true, 10);
    expect(circuit.waitMs()).toBe(0);
    for (let count = 0; count < 10; count += 1) circuit.attempted(true, 10);
    expect(circuit.waitMs()).toBe(0);
  });

  test("tells a slow receiver by its last attempt", () => {
    const circuit = createCircuit(() => 0);
    expect(circuit.isSlow()).toBe(false);
    circuit.attempted(true, 1500);
    expect(circuit.isSlow()).toBe(true);
    circuit.attempted(true, 500);
    expect(circuit.isSlow()).toBe(false);
    circuit.attempted(false, 1);
    expect(circuit.isSlow()).toBe(true);
  });
});
