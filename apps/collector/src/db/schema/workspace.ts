/** How people look at things. */
export interface WorkspaceTables {
  /** A saved view of a list, of the user with whom it goes. */
  views: {
    id: string; tenant_id: string; user_id: string;
    /** One of `ViewSubject`. */
    list: string;
    name: string; filter: string; sort: string;
    /** A JSON list of names. */
    columns: string;
    is_shared: number; created_at: string; updated_at: string;
  };
  /** What a user has chosen: JSON of `Preferences`. */
  user_preferences: { user_id: string; tenant_id: string; preferences: string };
  /** Where the nodes of a site's map are: a JSON list. */
  map_pins: { site_id: string; tenant_id: string; pins: string; updated_by: string; updated_at: string };
}
