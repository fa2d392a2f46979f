import { onTestFinished } from "vitest";
import { startTestGateway, type TestGateway } from "./gateway.ts";

/** A gateway for the test that is running, which is stopped when the test has ended. */
export async function startGateway(options: Parameters<typeof startTestGateway>[0] = {}): Promise<TestGateway> {
  const gateway = await startTestGateway(options);
  onTestFinished(() => gateway.stop());
  return gateway;
}
