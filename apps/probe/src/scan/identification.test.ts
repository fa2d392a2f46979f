import { expect, test } from "vitest";
import type { PortFinding } from "../identify/finding.ts";
import { createIdentification } from "./identification.ts";

const port = (ip: string, number: number) => ({ ip, protocol: "tcp" as const, port: number });

test("asks each port once, four at a time of a host, tells what was learned, and waits for all", async () => {
  const published: string[] = [];
  let most = 0;
  const running = new Map<string, number>();
  const identification = createIdentification({
    signal: new AbortController().signal,
    async identify({ ip, port: number }): Promise<PortFinding | null> {
      running.set(ip, (running.get(ip) ?? 0) + 1);
      most = Math.max(most, running.get(ip) ?? 0);
      await new Promise<void>((resolve) => void setImmediate(resolve));
      running.set(ip, (running.get(ip) ?? 0) - 1);
      if (number === 3) throw new Error("broken");
      return number === 2 ? null : { service: `s${number}`, version: "", banner: "" };
    },
    onFinding: ({ ip, port: number }, { service }) => void published.push(`${ip} ${number} ${service}`),
  });
  await identification.idle();
  for (let number = 1; number <= 20; number += 1) identification.add(port("10.0.0.1", number));
  identification.add(port("10.0.0.2", 1));
  await identification.idle();
  expect([published.length, most, published.includes("10.0.0.2 1 s1")]).toEqual([19, 4, true]);
});

test("asks nothing where nobody is there to ask, and ends at once when it is aborted", async () => {
  const stop = new AbortController();
  const nobody = createIdentification({ identify: null, signal: stop.signal, onFinding: () => undefined });
  nobody.add(port("10.0.0.1", 1));
  await nobody.idle();
  const published: PortFinding[] = [];
  const aborted = createIdentification({
    signal: stop.signal, identify: (_, signal) => new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve(null));
    }),
    onFinding: (_, finding) => void published.push(finding),
  });
  for (let number = 1; number <= 20; number += 1) aborted.add(port("10.0.0.1", number));
  const idle = aborted.idle();
  stop.abort();
  await idle;
  expect(published).toEqual([]);
});
