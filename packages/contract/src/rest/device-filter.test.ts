import { describe, expect, test } from "vitest";
import { formatDeviceFilter, parseDeviceFilter } from "./device-filter.ts";

const filterOf = (text: string) => {
  const parsed = parseDeviceFilter(text);
  return parsed.ok ? parsed.filter : parsed.message;
};

describe("the filter language of devices", () => {
  test("makes the API's filters of terms, and a search of the rest", () => {
    expect(filterOf('type:printer,camera -tag:lab vendor:"Cisco Systems, Inc" port:22 seen:<7d berlin')).toEqual({
      device_type: "printer,camera", tag: "!lab", vendor: String.raw`Cisco Systems\, Inc`, open_port: "22", since: "7d", search: "berlin",
    });
    expect(filterOf("found:<7d found:>2w seen:<1h")).toEqual({ found_since: "7d", found_until: "2w", since: "1h" });
    expect(filterOf("type:router type:switch -os:windows seen:>2w")).toEqual({ device_type: "router,switch", os: "!windows", until: "2w" });
  });

  test("takes addresses with colons for what they are", () => {
    expect(filterOf("00:1b:63:a0:00:01")).toEqual({ search: "00:1b:63:a0:00:01" });
    expect(filterOf("2001:db8::1")).toEqual({ search: "2001:db8::1" });
    expect(filterOf("ab:cd:ef")).toEqual({ search: "ab:cd:ef" });
  });

  test("compares severities, and takes moments and yes or no", () => {
    expect(filterOf("cve:>=high -cve:<low")).toEqual({ cve_severity: "critical,high,!none" });
    expect(filterOf("cve:>high")).toEqual({ cve_severity: "critical" });
    expect(filterOf("online:true seen:>2026-11-20T00:00:00Z seen:<2026-11-21T00:00:00Z"))
      .toEqual({ is_online: "true", since: "2026-11-20T00:00:00Z", until: "2026-11-21T00:00:00Z" });
    for (const text of ["cve:>critical", "online:maybe", "-online:true", "online:true online:false", "seen:<7d seen:<3d", "found:<7d found:<3d", "-found:<7d", "seen:>soon", 'type:""', '-tag:""']) {
      expect([text, parseDeviceFilter(text).ok]).toEqual([text, false]);
    }
  });

  test("says what is wrong in its own words", () => {
    expect(filterOf("type:toaster")).toMatch(/^type: /);
    expect(filterOf("port:ssh")).toMatch(/^port: must be a port number/);
    expect(filterOf("seen:7d")).toMatch(/seen:<7d/);
    expect(filterOf("x".repeat(2001))).toMatch(/longer/);
  });

  test("is written as it is read", () => {
    for (const text of ["type:printer,camera -tag:lab port:22 seen:<7d berlin", 'vendor:"Cisco Systems, Inc" -vendor:"a \\" b"', "", "found:>2026-11-20T00:00:00Z found:>30d seen:<2d", "cve:>=high online:false seen:>2026-11-20T00:00:00Z", '"type:printer  two" seen:>7d', 'tag:"<b>"', "-berlin"]) {
      expect(filterOf(formatDeviceFilter(filterOf(text) as object))).toEqual(filterOf(text));
    }
    expect(formatDeviceFilter({ device_type: "router,switch", search: "oslo" })).toBe("type:router,switch oslo");
  });

  test("is read in a time that grows with the text alone", () => {
    for (const text of ['"'.repeat(2000), "-".repeat(2000), `a:"${"\\".repeat(1990)}`, "a".repeat(2000)]) expect(() => parseDeviceFilter(text)).not.toThrow();
  });
});
