import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "../parts/button.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { Moment } from "../texts/moment.tsx";

/** Has nothing blocked for ten minutes, or ends that. @param props.siteId Only at this site. */
export function DnsPauses({ siteId }: { readonly siteId: string | undefined }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const mayWrite = useMay("sensors:write");
  const pauses = useQuery({ queryKey: ["dns", "pauses"], queryFn: () => rest.listDnsPauses({ per_page: 100 }) });
  const current = pauses.data?.data.filter(({ site_id }) => siteId === undefined || site_id === null || site_id === siteId) ?? [];
  const act = useMutation({
    async mutationFn() {
      if (current.length === 0) await rest.createDnsPause({ site_id: siteId });
      else await Promise.all(current.map(({ id }) => rest.deleteDnsPause(id)));
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ["dns"] }),
  });
  const [pause] = current;
  return (
    <>
      {pause && <span role="status">Nothing is blocked until <Moment at={pause.expires_at} exact /></span>}
      {mayWrite && <Button onClick={() => act.mutate()} disabled={act.isPending || !pauses.data}>{pause ? "Block again" : "Pause for ten minutes"}</Button>}
      {act.isError && <ErrorNote error={act.error} />}
    </>
  );
}
