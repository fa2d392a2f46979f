import { setTimeout as pause } from "node:timers/promises";

/** `fetch` for tests, which ask for more at once than a caller may: what a collector refuses for that is sent again when it says. */
export async function patientFetch(...request: Parameters<typeof fetch>): Promise<Response> {
  for (;;) {
    const response = await fetch(...request);
    if (response.status !== 429) return response;
    await pause(Number(response.headers.get("retry-after") ?? 1) * 1000);
  }
}
