import { IpamImported } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { startGateway } from "../../testing/gateway-for-test.ts";
import { HANG_MS, watchWork } from "../../testing/loop.ts";
import { createIpam } from "./ipam.ts";

/** As large as a body may be. */
const LIMIT = 1_048_576;
const HEAD = "ip,hostname\n";
const fill = (unit: string) => unit.repeat(Math.floor((LIMIT - HEAD.length - 40) / unit.length));

// Of SQLite alone, whose statements hold the loop; at PostgreSQL's server so many are a matter of its speed.
test("as large an import as may be leaves others served", async () => {
  const gateway = await startGateway({ modules: (parts) => [createIpam(parts)] });
  const { token } = await gateway.createTenant("admin");
  const send = (csv: string) => watchWork(() => gateway.request("/api/v1/ipam/addresses/import", {
    method: "POST", headers: { authorization: `Bearer ${token}`, "content-type": "text/csv" }, body: csv,
  }));
  const csv = `${HEAD}${Array.from({ length: 10_000 }, (_, at) => `10.0.${at >> 8}.${at & 255},${"h".repeat(60)}`).join("\n")}\n`;
  const { result, worstMs } = await send(csv);
  expect(IpamImported.parse(result.body)).toMatchObject({ created: 10_000 });
  expect(worstMs).toBeLessThan(HANG_MS);

  for (const hostile of [
    fill("\n"), fill(","), fill("- "), `${HEAD}${fill(",")}`, `${HEAD}${fill("- \n")}`, `${HEAD}10.0.0.1,${fill("'")}`,
    `${HEAD}10.0.0.1,"${fill('""')}"`, `${HEAD}10.0.0.1,"${fill("\n")}"`, `${HEAD}${fill("10.0.0.0,a,b\n")}`,
  ]) {
    const one = await send(hostile);
    expect([hostile.slice(0, 30), one.result.status, one.result.error.code]).toEqual([hostile.slice(0, 30), 400, "BAD_REQUEST"]);
    expect([hostile.slice(0, 30), one.worstMs < HANG_MS]).toEqual([hostile.slice(0, 30), true]);
  }
});
