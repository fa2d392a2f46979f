import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";

/** All pages. */
export async function listUsers({ rest }: Connection): Promise<Answer> {
  const users = await collect(rest.listUsers);
  return {
    json: users,
    table: {
      heading: ["NAME", "ROLE", "E-MAIL", "LAST LOGIN", "ID"],
      rows: users.map((user) => [user.username, user.role, user.email ?? "-", user.last_login_at ?? "never", user.id]),
    },
  };
}
