import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { chooseAssets } from "./releases.ts";

const asset = (name: string) => ({ name, browser_download_url: `https://example.org/${name}`, digest: `sha256:${createHash("sha256").update(name).digest("hex")}` });
const release = (day: string, ...hours: readonly string[]) => ({
  tag_name: `cve_${day}`, assets: [...hours.map((hour) => asset(`${day}_delta_CVEs_at_${hour}.zip`)), asset(`${day}_all_CVEs_at_midnight.zip.zip`)],
});
const names = (choice: ReturnType<typeof chooseAssets>) => choice.assets.map(({ name }) => name);

const DAYS = [release("2026-11-20", "0900Z", "1000Z"), release("2026-11-19", "2300Z", "end_of_day"), release("2026-11-18", "end_of_day")];

describe("the CVE list", () => {
  test("is fetched whole the first time, with what has changed since midnight", () => {
    const choice = chooseAssets(DAYS, null);
    expect([choice.isWhole, names(choice), choice.cursor]).toEqual([
      true, ["2026-11-20_all_CVEs_at_midnight.zip.zip", "2026-11-20_delta_CVEs_at_1000Z.zip"], { day: "2026-11-20", asset: "2026-11-20_delta_CVEs_at_1000Z.zip" },
    ]);
  });

  test("of the same day needs the day's newest delta, or nothing", () => {
    const earlier = chooseAssets(DAYS, { day: "2026-11-20", asset: "2026-11-20_delta_CVEs_at_0900Z.zip" });
    expect([earlier.isWhole, names(earlier)]).toEqual([false, ["2026-11-20_delta_CVEs_at_1000Z.zip"]]);
    const now = chooseAssets(DAYS, { day: "2026-11-20", asset: "2026-11-20_delta_CVEs_at_1000Z.zip" });
    expect([now.isWhole, names(now)]).toEqual([false, []]);
  });

  test("of earlier days needs the end of each of them", () => {
    const choice = chooseAssets(DAYS, { day: "2026-11-18", asset: "2026-11-18_delta_CVEs_at_0300Z.zip" });
    expect([choice.isWhole, names(choice)]).toEqual([
      false, ["2026-11-18_delta_CVEs_at_end_of_day.zip", "2026-11-19_delta_CVEs_at_end_of_day.zip", "2026-11-20_delta_CVEs_at_1000Z.zip"],
    ]);
  });

  test("that the deltas do not reach back to, or with a day missing, is fetched whole", () => {
    const old = { day: "2026-11-10", asset: "2026-11-10_delta_CVEs_at_0300Z.zip" };
    const broken = [release("2026-11-20", "0900Z"), release("2026-11-18", "end_of_day")];
    const unended = [release("2026-11-20", "0900Z"), release("2026-11-19", "2000Z")];
    expect([chooseAssets(DAYS, old).isWhole, chooseAssets(broken, { day: "2026-11-18", asset: "x" }).isWhole, chooseAssets(unended, { day: "2026-11-19", asset: "x" }).isWhole])
      .toEqual([true, true, true]);
  });

  test("without releases of it is nothing", () => {
    expect(chooseAssets([{ tag_name: "v1", assets: [asset("source.zip")] }], null)).toEqual({ isWhole: true, assets: [], cursor: null });
  });
});
