import { readAll } from "@lanthorn/client";
import type { User } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";

export async function listUsers({ rest }: Connection): Promise<Answer> {
  const users: User[] = [];
  for await (const user of readAll(rest.listUsers)) users.push(user);
  return {
    json: users,
    table: {
      heading: ["NAME", "ROLE", "E-MAIL", "LAST LOGIN", "ID"],
      rows: users.map((user) => [user.username, user.role, user.email ?? "-", user.last_login_at ?? "never", user.id]),
    },
  };
}
