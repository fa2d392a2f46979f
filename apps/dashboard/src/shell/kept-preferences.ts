import type { PreferencesUpdate } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useSession } from "../session/use-session.ts";

const queryKey = ["preferences"] as const;

/** One's preferences, as the collector keeps them. */
export function useKeptPreferences() {
  const { rest } = useSession();
  return useQuery({ queryKey, queryFn: () => rest.readPreferences(), staleTime: Number.POSITIVE_INFINITY, refetchInterval: false });
}

/** Changes some of them; what shows them has the answer at once. @param then Runs once they are kept, and the change lasts as long. */
export function useUpdatePreferences(then: (wanted: PreferencesUpdate) => unknown = () => {}) {
  const { rest } = useSession();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (wanted: PreferencesUpdate) => rest.updatePreferences(wanted),
    async onSuccess(answer, wanted) {
      queries.setQueryData(queryKey, answer);
      await then(wanted);
    },
  });
}
