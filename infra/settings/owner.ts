/**
 * The name of the typed client's package. Its scope must be your user or organisation on npm, so that nobody
 * else can publish a package with this name. The documents show the same name.
 */
export const clientPackage = '@example.com/animal-store-client';

/**
 * The link to the runbook that each alarm shows. It is the path in this repository, or the URL at which
 * recipients can read the runbook.
 */
export const runbookLink = 'infra/runbook.md';

/** A repository on GitHub whose workflows deploy the service. */
export interface GithubRepository {
  readonly owner: string;
  readonly name: string;
  /**
   * The ids of owner and repository, which GitHub never uses again. This prints them:
   * gh api repos/<owner>/<name> --jq '"ownerId: \(.owner.id), repositoryId: \(.id)"'
   */
  readonly ownerId: number;
  readonly repositoryId: number;
  /**
   * Whether the subjects of its tokens lack the ids, so that another repository that gets its name later
   * could use the roles. This prints the start of a subject, with ids or without:
   * gh api repos/<owner>/<name>/actions/oidc/customization/sub --jq .sub_claim_prefix
   */
  readonly subjectsLackIds: boolean;
  /** The accounts that have GitHub's identity provider already. An account can have it once. */
  readonly accountsWithProvider: readonly string[];
}

/** The repository whose workflows get roles in an account, by `AnimalStore-github-<account>`. */
export const githubRepository: GithubRepository = {
  owner: '',
  name: '',
  ownerId: 0,
  repositoryId: 0,
  subjectsLackIds: false,
  accountsWithProvider: [],
};
