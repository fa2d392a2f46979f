import type { Query } from "@lanthorn/client";
import type { Alert } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";

/** Filters as the API has them; every page is read. */
export async function listAlerts({ rest }: Connection, filters: Query): Promise<Answer> {
  const alerts = await collect(rest.listAlerts, filters);
  return answer(alerts);
}

/** Says of alerts that somebody looks after them. */
export async function acknowledgeAlerts({ rest }: Connection, ids: readonly string[]): Promise<Answer> {
  const alerts: Alert[] = [];
  for (const id of ids) alerts.push(await rest.acknowledgeAlert(id));
  return answer(alerts);
}

/** Says of alerts that their matter is dealt with. */
export async function resolveAlerts({ rest }: Connection, ids: readonly string[]): Promise<Answer> {
  const alerts: Alert[] = [];
  for (const id of ids) alerts.push(await rest.resolveAlert(id));
  return answer(alerts);
}

function answer(alerts: readonly Alert[]): Answer {
  return {
    json: alerts,
    table: {
      heading: ["SEVERITY", "STATUS", "SOURCE", "TITLE", "COUNT", "LAST SEEN", "ID"],
      rows: alerts.map((alert) => [
        alert.severity, alert.muted ? `${alert.status}, muted` : alert.status, alert.source, alert.title, String(alert.count),
        alert.last_seen, alert.id,
      ]),
    },
  };
}
