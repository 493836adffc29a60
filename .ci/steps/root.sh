if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
  cargo test --locked --quiet --test tests -- --ignored \
    --exact tree::a_mount_that_leads_back_is_walked_once
else
  skipped "a mount that leads back: folders cannot be mounted here"
fi
