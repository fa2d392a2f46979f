import { IpamImported } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { startGateway } from "../../testing/gateway-for-test.ts";
import { HANG_MS, watchLoop } from "../../testing/loop.ts";
import { createIpam } from "./ipam.ts";

// Of SQLite alone, whose statements hold the loop; at PostgreSQL's server so many are a matter of its speed.
test("as large an import as may be leaves others served", async () => {
  const gateway = await startGateway({ services: (parts) => createIpam(parts).routes });
  const { token } = await gateway.createTenant("admin");
  const csv = `ip,hostname\n${Array.from({ length: 10_000 }, (_, at) => `10.0.${at >> 8}.${at & 255},${"h".repeat(60)}`).join("\n")}\n`;
  const { result, worstMs } = await watchLoop(() => gateway.call("POST", "/api/v1/ipam/addresses/import", token, { csv }));
  expect(IpamImported.parse(result.body)).toMatchObject({ created: 10_000 });
  expect(worstMs).toBeLessThan(HANG_MS);
});
