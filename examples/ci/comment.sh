#!/bin/sh
# Puts the text of a file on the pull request that this job runs for, as one comment: the first run writes it,
# every later run rewrites it. Works in GitHub Actions, Azure Pipelines and GitLab CI; needs curl and jq.
#
#   comment.sh plan.md
set -eu

file=${1:?"usage: comment.sh FILE"}
# A line that Markdown does not show, by which the comment is found again. Several plans on one pull request
# (two clusters, say) need one NODEFORM_COMMENT each.
marker="[nodeform]: # (${NODEFORM_COMMENT:-plan})"
pages_max=50

fail() {
  echo "error: $1" >&2
  [ -z "${2-}" ] || echo "hint: $2" >&2
  exit 1
}

[ -s "$file" ] || fail "\`$file\` is empty or missing" "run \`nodeform plan … -o md > $file\` first"
for tool in curl jq; do
  command -v "$tool" >/dev/null || fail "\`$tool\` is not installed"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
text=$(printf '%s\n\n' "$marker"; cat "$file")

# The token stands in a file that only this user reads, not among the arguments that every process sees.
header() {
  (umask 077 && printf 'header = "%s"\n' "$1" >"$work/curl")
}

# call METHOD URL [BODY]: the answer on standard output, and its headers in a file.
call() {
  method=$1 url=$2
  set -- --config "$work/curl" --silent --show-error --fail-with-body --retry 3 --max-time 60 \
    --dump-header "$work/headers" --header 'Content-Type: application/json' --request "$method" \
    ${3+--data-binary "$3"}
  curl "$@" "$url" >"$work/answer" || {
    head -c 2000 "$work/answer" >&2
    fail "$method $url failed" "may the job's token write comments? \`examples/ci/README.md\` says what it needs"
  }
  cat "$work/answer"
}

# found FILTER URL-WITHOUT-PAGE: the id of our comment on any page, or nothing.
found() {
  page=1
  while [ "$page" -le "$pages_max" ]; do
    call GET "$2&page=$page" >"$work/page"
    id=$(jq -r --arg marker "$marker" "[$1] | first // empty" "$work/page")
    if [ -n "$id" ]; then
      echo "$id"
      return
    fi
    [ "$(jq length "$work/page")" -eq 100 ] || return 0
    page=$((page + 1))
  done
}

body() {
  jq -n --arg text "$text" "$1"
}

on_github() {
  request=${GITHUB_REF#refs/pull/}
  [ "$request" != "$GITHUB_REF" ] || fail "this run is for no pull request" "start it \`on: pull_request\`"
  header "Authorization: Bearer ${GITHUB_TOKEN:?"set GITHUB_TOKEN to the job's token"}"
  comments="${GITHUB_API_URL:-https://api.github.com}/repos/$GITHUB_REPOSITORY/issues"
  id=$(found '.[] | select(.body | startswith($marker)) | .id' "$comments/${request%%/*}/comments?per_page=100")
  if [ -n "$id" ]; then
    call PATCH "$comments/comments/$id" "$(body '{body: $text}')"
  else
    call POST "$comments/${request%%/*}/comments" "$(body '{body: $text}')"
  fi
}

on_gitlab() {
  request=${CI_MERGE_REQUEST_IID:?"this job is for no merge request: give it a rule for merge_request_event"}
  header "PRIVATE-TOKEN: ${NODEFORM_GITLAB_TOKEN:?"set NODEFORM_GITLAB_TOKEN to a token with scope api"}"
  notes="$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$request/notes"
  id=$(found '.[] | select(.body | startswith($marker)) | .id' "$notes?per_page=100")
  if [ -n "$id" ]; then
    call PUT "$notes/$id" "$(body '{body: $text}')"
  else
    call POST "$notes" "$(body '{body: $text}')"
  fi
}

on_azure() {
  request=${SYSTEM_PULLREQUEST_PULLREQUESTID:?"this run is for no pull request: add a branch policy that starts it"}
  header "Authorization: Bearer ${SYSTEM_ACCESSTOKEN:?"map SYSTEM_ACCESSTOKEN: \$(System.AccessToken)"}"
  project=$(jq -rn --arg name "$SYSTEM_TEAMPROJECT" '$name | @uri')
  threads="$SYSTEM_COLLECTIONURI$project/_apis/git/repositories/$BUILD_REPOSITORY_ID/pullRequests/$request/threads"
  version='api-version=7.1'
  call GET "$threads?$version" >"$work/page"
  id=$(jq -r --arg marker "$marker" '[.value[]
    | select((.isDeleted | not) and ((.comments[0].content // "") | startswith($marker)))
    | "\(.id)/comments/\(.comments[0].id)"] | first // empty' "$work/page")
  if [ -n "$id" ]; then
    call PATCH "$threads/$id?$version" "$(body '{content: $text}')"
  else
    # Status 4 is "closed": a plan asks nobody to resolve it.
    call POST "$threads?$version" "$(body '{status: 4, comments: [{parentCommentId: 0, commentType: 1, content: $text}]}')"
  fi
}

if [ -n "${GITHUB_ACTIONS-}" ]; then
  on_github >/dev/null
elif [ -n "${GITLAB_CI-}" ]; then
  on_gitlab >/dev/null
elif [ -n "${TF_BUILD-}" ]; then
  on_azure >/dev/null
else
  fail 'this runs in GitHub Actions, GitLab CI or Azure Pipelines only' "elsewhere, show \`$file\` as it is"
fi
