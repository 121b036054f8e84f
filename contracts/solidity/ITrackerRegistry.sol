// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title The list of trackers a deployment offers
/// @notice The owner of the registry admits and removes trackers; a tracker keeps its own URL and metadata up to date.
/// Lengths are in bytes of UTF-8. The contract checks lengths only: a reader must treat URL and metadata as hostile text.
interface ITrackerRegistry {
    /// @param tracker Ethereum address of the tracker's key, which is also its node id
    /// @param url where nodes reach it, such as `wss://tracker.example:30300`
    /// @param metadata free text, by convention JSON
    struct Tracker {
        address tracker;
        string url;
        string metadata;
    }

    /// @notice A tracker was admitted.
    event TrackerAdded(address indexed tracker, string url, string metadata);
    /// @notice The URL or metadata of a tracker was replaced.
    event TrackerUpdated(address indexed tracker, string url, string metadata);
    /// @notice A tracker was removed.
    event TrackerRemoved(address indexed tracker);

    /// @notice The zero address cannot be a tracker.
    error TrackerRegistry__InvalidTracker(address tracker);
    /// @notice The tracker is in the registry already.
    error TrackerRegistry__AlreadyExists(address tracker);
    /// @notice No such tracker is in the registry.
    error TrackerRegistry__NotFound(address tracker);
    /// @notice The caller is neither the owner of the registry nor the tracker itself.
    error TrackerRegistry__NotPermitted(address caller, address tracker);
    /// @notice The URL is empty or longer than allowed.
    error TrackerRegistry__InvalidUrl(uint256 lengthBytes, uint256 maxBytes);
    /// @notice The metadata is longer than allowed.
    error TrackerRegistry__MetadataTooLong(uint256 lengthBytes, uint256 maxBytes);

    /// @notice Admits a tracker. Only the owner of the registry may.
    function addTracker(address tracker, string calldata url, string calldata metadata) external;

    /// @notice Replaces URL and metadata of a tracker. The owner of the registry and the tracker itself may.
    function updateTracker(address tracker, string calldata url, string calldata metadata) external;

    /// @notice Removes a tracker. Only the owner of the registry may.
    function removeTracker(address tracker) external;

    /// @notice One tracker; reverts when it is not in the registry.
    function getTracker(address tracker) external view returns (Tracker memory);

    /// @notice Whether the address is a tracker of this registry.
    function isTracker(address tracker) external view returns (bool);

    /// @notice How many trackers the registry holds.
    function trackerCount() external view returns (uint256);

    /// @notice At most `limit` trackers from position `offset`; fewer, or none, past the end.
    /// @dev A removal moves the last tracker into the gap: read all pages at one block number.
    function listTrackers(uint256 offset, uint256 limit) external view returns (Tracker[] memory);
}
