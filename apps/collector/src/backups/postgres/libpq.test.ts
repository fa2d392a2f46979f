import { describe, expect, test } from "vitest";
import { databaseOf, forLibpq, withDatabase } from "./libpq.ts";

describe("a URL for PostgreSQL's own programs", () => {
  test("has no password in it, nor what they do not know", () => {
    expect(forLibpq("postgres://u:p%40ss@h:5433/d?uselibpqcompat=true&sslmode=require&binary=true"))
      .toEqual({ url: "postgres://u@h:5433/d?sslmode=require", password: "p@ss" });
    expect(forLibpq("postgres://u@h/d?password=secret")).toEqual({ url: "postgres://u@h/d", password: "secret" });
    expect(forLibpq("postgres://u@h/d").password).toBeUndefined();
  });

  test("checks the server's certificate where the driver does", () => {
    const modeOf = (query: string) => {
      const { searchParams: { get }, searchParams } = new URL(forLibpq(`postgres://u@h/d?${query}`).url);
      return ["sslmode", "sslrootcert"].map((name) => get.call(searchParams, name));
    };
    expect(modeOf("sslmode=require")).toEqual(["verify-full", "/etc/ssl/certs/ca-certificates.crt"]);
    expect(modeOf("sslmode=verify-ca&sslrootcert=/ca.pem")).toEqual(["verify-full", "/ca.pem"]);
    expect(modeOf("sslmode=no-verify")).toEqual(["require", null]);
    expect(modeOf("sslmode=disable")).toEqual(["disable", null]);
    expect(modeOf("")).toEqual([null, null]);
  });

  test("names another database of the same server", () => {
    expect(withDatabase("postgres://u:p@h:1/d?sslmode=disable", "a b")).toBe("postgres://u:p@h:1/a%20b?sslmode=disable");
    expect(databaseOf("postgres://h/a%20b")).toBe("a b");
  });
});
